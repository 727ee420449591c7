import { describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import { defaultPolicy } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { HashKeys } from "../../domain/policy/hash-key.ts";
import type { KubeObject } from "../../kube/api/resources.ts";

const configHash = "wave.pusher.com/config-hash";
const recordedConfig = "wave.pusher.com/recorded-config";

/** A controller that leads, one workload of each kind, and keys that the test changes. */
async function scene(first: HashKeys, read?: () => Promise<void>) {
  const sandbox = await startSandbox({ controllers: false });
  let keys: HashKeys | undefined = first;
  const policy = {
    ...defaultPolicy,
    get hashKeys() {
      return keys;
    },
  };
  const cluster = new TestCluster(sandbox.url, { policy, readHashKeys: read });
  const stop = new AbortController();
  const running = cluster.controller.run({ stop: stop.signal, abort: stop.signal, valid: () => true });
  onTestFinished(async () => {
    stop.abort();
    await running;
    cluster.close();
    await sandbox.close();
  });
  await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
  for (const kind of ["Deployment", "StatefulSet"] as const) await cluster.create(kind, workload("web"));
  await cluster.list();
  const objects = async () => {
    const found = await Promise.all([cluster.get("Deployment", "web"), cluster.get("StatefulSet", "web")]);
    return found.filter((object) => object !== undefined) as (KubeObject & WorkloadObject)[];
  };
  const hashes = async () =>
    (await objects()).map(({ spec }) => spec?.template?.metadata?.annotations?.[configHash] ?? "none");
  const recordedConfigs = async () => (await objects()).map(({ metadata }) => metadata.annotations?.[recordedConfig]);
  await eventually(async () => expect((await hashes()).every((hash) => hash.startsWith("v2-"))).toBe(true));
  const show = async () => {
    for (const kind of ["ConfigMap", "Deployment", "StatefulSet"] as const) await cluster.show(kind, "web");
  };
  await show();
  return {
    cluster,
    hashes,
    recordedConfigs,
    show,
    objects,
    /** What another policy lets the controller do. */
    change: (to: HashKeys | undefined) => {
      keys = to;
      cluster.controller.onPolicyChange();
    },
    /** What the controller reads by itself, without an event. */
    learn: (to: HashKeys) => {
      keys = to;
    },
    patches: () =>
      sandbox.requests.filter(
        ({ verb, resource, status }) => verb === "patch" && resource !== "configmaps" && status === 200,
      ).length,
  };
}

describe("the controller, when keys change", () => {
  it("writes nothing for a hash with the previous key, and uses the current key with the next edit", async () => {
    const { cluster, hashes, change, patches } = await scene(testKeys(1));
    const before = await hashes();
    change(testKeys(2, 1));
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await eventually(async () => expect((await hashes()).some((hash) => before.includes(hash))).toBe(false));
    expect(await hashes()).toEqual(before.map(() => expect.stringContaining(`v2-${testKeys(2).current.id}:`)));
    expect(patches()).toBe(4);
    expect(cluster.events.map(({ reason }) => reason).slice(2)).toEqual(["ConfigChanged", "ConfigChanged"]);
    expect(cluster.events.at(-1)?.message).toContain('ConfigMap "web" changed (key "a")');
  });

  it("records new hashes after the loss of a key, reports that once, and creates no new Pods", async () => {
    const { cluster, hashes, recordedConfigs, objects, change, show, patches } = await scene(testKeys(1));
    const [before, specs] = [await hashes(), (await objects()).map(({ spec }) => spec)];
    change(testKeys(3));
    await eventually(async () => expect(await recordedConfigs()).not.toContain(undefined));
    await show();
    change(testKeys(3));
    await show();
    expect((await objects()).map(({ spec }) => spec)).toEqual(specs);
    expect(await recordedConfigs()).toEqual(before.map((hash) => expect.stringContaining(`${hash} v2-`)));
    expect(patches()).toBe(4);
    const recorded = cluster.events.filter(({ reason }) => reason === "ConfigRecorded");
    expect(recorded.map(({ regarding }) => regarding.kind).sort()).toEqual(["Deployment", "StatefulSet"]);
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await eventually(async () => expect((await hashes()).some((hash) => before.includes(hash))).toBe(false));
    // If another client takes the new hash back, they show what the Pods read.
    expect(await recordedConfigs()).toEqual(before.map((hash) => expect.stringContaining(`${hash} v2-`)));
    expect(patches()).toBe(6);
  });

  it("reads a key that another replica has just created before it treats the key as unknown", async () => {
    let reads = 0;
    const replica = await scene(testKeys(1), async () => {
      reads++;
      replica.learn(testKeys(2, 1));
    });
    // This replica is behind: it does not have the key of the hashes.
    replica.change(testKeys(9));
    await eventually(() => expect(reads).toBeGreaterThan(0));
    await replica.show();
    expect(await replica.recordedConfigs()).toEqual([undefined, undefined]);
    expect(replica.patches()).toBe(2);
  });

  it("treats no key as unknown while the key cannot be read", async () => {
    let reads = 0;
    let fails = true;
    const { cluster, recordedConfigs, change, show, patches } = await scene(testKeys(1), async () => {
      reads++;
      if (fails) throw new Error("cannot read the hash key: 503");
    });
    change(testKeys(9));
    await eventually(() => expect(reads).toBe(2));
    await show();
    expect(patches()).toBe(2);
    expect(JSON.stringify(cluster.logged)).toContain("cannot read the hash key: 503");
    fails = false;
    await cluster.clock.advance(60_000);
    await eventually(async () => expect(await recordedConfigs()).not.toContain(undefined));
  });
});
