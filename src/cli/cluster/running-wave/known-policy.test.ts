import { afterEach, describe, expect, it } from "vitest";
import { startSandbox } from "../../../../sandbox/sandbox.ts";
import { explainScene } from "../../../../test/support/cli/explain.ts";
import { inDefault } from "../../../../test/support/cli/web.ts";
import { hashKey } from "../../../domain/policy/hash-key.ts";

const sandbox = await startSandbox({ controllers: false });
const { cluster, explain, explainJson } = explainScene(sandbox);

const flag = "--hash-key-secret=default/wave-hash-key";
const bytes = (fill: number) => Buffer.alloc(32, fill);

async function storeKeys(current: number, previous?: number): Promise<void> {
  const data = {
    key: bytes(current).toString("base64"),
    ...(previous !== undefined && { previous: bytes(previous).toString("base64") }),
  };
  const metadata = { name: "wave-hash-key", labels: { "app.kubernetes.io/managed-by": "wave" } };
  await removeKeys();
  await cluster.call("POST", inDefault("secrets"), { metadata, data });
}

async function removeKeys(): Promise<void> {
  await cluster.call("DELETE", inDefault("secrets/wave-hash-key")).catch(() => {});
}

/** Records a hash with key 1 on the workload. */
async function recordUnderKey(): Promise<string> {
  await cluster.createConfigMap("page", { "index.html": "hello" });
  await cluster.createSecret({ password: "hunter2" });
  await cluster.createWeb();
  await storeKeys(1);
  const { currentHash } = await explainJson(flag);
  expect(currentHash).toMatch(new RegExp(`^v2-${hashKey(bytes(1)).id}:[0-9a-f]{64}$`));
  await cluster.recordHash(currentHash);
  return currentHash;
}

const edit = () => cluster.call("PATCH", inDefault("configmaps/page"), { data: { "index.html": "bye" } });

describe("wave explain with hashes under a key", () => {
  afterEach(removeKeys);

  it.each([
    ["the current key", [1], "current key"],
    ["the previous key", [2, 1], "previous key"],
  ] as const)("compares a hash under %s", async (_, [current, previous], recordedUnder) => {
    await recordUnderKey();
    await storeKeys(current, previous);
    expect(await explainJson(flag)).toMatchObject({ outcome: "current", recordedUnder });
    await edit();
    const after = await explainJson(flag);
    expect(after).toMatchObject({ outcome: "roll", recordedUnder });
    expect(after.currentHash).toContain(`v2-${hashKey(bytes(current)).id}:`);
  });

  it("reports unknown without the flag, before and after an edit, with the next step", async () => {
    const recordedHash = await recordUnderKey();
    for (const change of [async () => {}, edit]) {
      await change();
      const explained = await explainJson();
      expect(explained).toMatchObject({
        outcome: "unknown",
        recordedHash,
        recordedUnder: "unknown key",
        currentHash: null,
      });
      expect(explained.reason).toBe(
        `The recorded hash uses key ${hashKey(bytes(1)).id}, which is not available: pass --hash-key-secret.`,
      );
    }
    expect((await explain()).out).toMatch(/^Now +Unknown\. /m);
  });

  it("reports unknown if the Secret is missing, damaged or forbidden", async () => {
    await recordUnderKey();
    await removeKeys();
    expect((await explainJson(flag)).reason).toContain('not found: Secret "wave-hash-key" in namespace "default"');
    await storeKeys(1);
    await cluster.call("PATCH", inDefault("secrets/wave-hash-key"), { data: { key: "aGk=" } });
    expect((await explainJson(flag)).reason).toContain("is damaged");
    const path = inDefault("secrets/wave-hash-key");
    sandbox.faults.add({ match: (request) => request.path === path, action: { type: "status", status: 403 } });
    const forbidden = await explainJson(flag);
    expect(forbidden).toMatchObject({ outcome: "unknown", currentHash: null });
    expect(forbidden.reason).toContain("403");
  });

  it("shows the effect on a hash whose key is no longer stored", async () => {
    await recordUnderKey();
    await storeKeys(3, 2);
    expect(await explainJson(flag)).toMatchObject({ outcome: "recorded", recordedUnder: "unknown key" });
    expect((await explain(flag)).out).toContain("Wave records the current configuration without a restart.");
  });

  it("compares a hash without a key, but shows no current hash if it cannot read the key", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const { currentHash: recordedHash } = await explainJson();
    await cluster.recordHash(recordedHash);
    expect(await explainJson(flag)).toMatchObject({ outcome: "current", recordedUnder: "no key", currentHash: null });
    await storeKeys(1);
    expect(await explainJson(flag)).toMatchObject({ outcome: "current", recordedUnder: "no key" });
    await edit();
    expect(await explainJson(flag)).toMatchObject({ outcome: "roll" });
  });
});
