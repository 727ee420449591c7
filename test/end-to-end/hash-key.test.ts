import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { type ChartAccount, chartAccount } from "../deploy/chart-account.ts";
import { container, kindNames, makeNamespace, type Namespace, workload } from "./objects.ts";
import { getWorkload, recordedHash, revisionsToBe, settledRevisions, waveEvents } from "./state.ts";

const ns = "hash-key";
const name = "app";
const secretPath = `/api/v1/namespaces/${ns}/secrets/wave-hash-key`;

interface StoredKeys extends AnyObject {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

describeOnControlPlane("the hash key", (cluster) => {
  let namespace: Namespace;
  let account: ChartAccount;
  let replicas: WaveProcess[] = [];
  /** Returns the number of revisions of each workload. */
  let made: readonly number[];

  const hashes = async () => {
    const workloads = await Promise.all(kindNames.map((kind) => getWorkload(cluster, ns, kind, name)));
    return workloads.map(({ spec }) => spec.template.metadata.annotations?.["wave.pusher.com/config-hash"] ?? "none");
  };
  /** Returns what was recorded beside the hash of each workload; undefined if the record belongs to an earlier hash. */
  const recordedConfigs = async () => {
    const workloads = await Promise.all(kindNames.map((kind) => getWorkload(cluster, ns, kind, name)));
    return workloads.map(({ metadata, spec }) => {
      const record = metadata.annotations?.["wave.pusher.com/recorded-config"];
      const hash = spec.template.metadata.annotations?.["wave.pusher.com/config-hash"] ?? "";
      return record?.startsWith(`${hash} `) ? record : undefined;
    });
  };
  const recordedConfigsToBe = (noted: boolean) =>
    until(`baselines to be ${noted ? "noted" : "gone"}`, async () =>
      (await recordedConfigs()).every((recordedConfig) => (recordedConfig !== undefined) === noted) ? true : undefined,
    );
  const revisionsOfAll = () => Promise.all(kindNames.map((kind) => settledRevisions(cluster, ns, kind, name)));
  const keys = () => cluster.api<StoredKeys>("GET", secretPath);

  /** Starts two replicas. Resolves when the leader has planned all workloads and has nothing left to write. */
  const start = async (...more: readonly string[]) => {
    const flags = [
      `--kubeconfig=${account.kubeconfig}`,
      `--namespaces=${ns}`,
      "--leader-election",
      `--leader-election-namespace=${ns}`,
      `--leader-election-id=${ns}`,
      "--leader-election-lease-duration=8s",
      ...more,
    ];
    replicas = await Promise.all([startWave(flags), startWave(flags)]);
    await until("the leader to have planned everything", async () => {
      const metrics = await Promise.all(replicas.map((replica) => replica.metrics()));
      return metrics.some((text) => text.includes('wave_workloads{state="current"} 3\n')) ? true : undefined;
    });
  };
  const startWithKey = () => start(`--hash-key-secret=${ns}/wave-hash-key`);
  /** Returns the digits of the key that each replica uses. */
  const usedKeys = () =>
    replicas.map(({ log }) => [...log().matchAll(/using a hash key.*?([0-9a-f]{8})\b/g)].at(-1)?.[1]);
  const stop = async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  };

  /** Edits the ConfigMap of all workloads. Resolves when each has one more revision and a hash that matches `form`. */
  const editRollsOnce = async (value: string, form: RegExp) => {
    const before = await hashes();
    await namespace.edit("ConfigMap", name, { a: value });
    await until("new hashes", async () =>
      (await hashes()).every((hash, index) => hash !== before[index] && form.test(hash)) ? true : undefined,
    );
    await Promise.all(kindNames.map((kind, index) => revisionsToBe(cluster, ns, kind, name, (made[index] ?? 0) + 1)));
    made = made.map((count) => count + 1);
  };
  const nothingRolled = async () => expect(await revisionsOfAll()).toEqual(made);

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    await namespace.configMap(name, { a: "0" });
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] };
    for (const kind of kindNames) await namespace.create(workload(name, podSpec, { kind }));
    account = await chartAccount(cluster, ns, `namespaces={${ns}},hashKeySecret=wave-hash-key`);
    await start();
    made = await revisionsOfAll();
    await editRollsOnce("first", /^v2:/);
    await stop();
  });
  afterEach(stop);
  afterAll(() => account.remove());

  it("is added, rotated, deleted, lost and removed, and only edits cause new Pods", async () => {
    // Enabled: two replicas with one key.
    await startWithKey();
    const first = await keys();
    expect([first.type, Object.keys(first.data)]).toEqual(["Opaque", ["key"]]);
    const used = usedKeys();
    expect(new Set(used).size).toBe(1);
    expect(await hashes()).toEqual(kindNames.map(() => expect.stringMatching(/^v2:/)));
    await nothingRolled();
    await editRollsOnce("1", new RegExp(`^v2-${used[0]}:`));

    // Rotated once: Wave keeps the hashes and verifies them with the previous key.
    const rotate = async () => {
      const [{ data }, before] = [await keys(), usedKeys()];
      await cluster.kubectl([
        ...["-n", ns, "annotate", "secret", "wave-hash-key"],
        "wave.pusher.com/rotate-hash-key=true",
      ]);
      const rotated = await until("another key", async () => {
        const stored = await keys();
        return stored.data.key === data.key ? undefined : stored;
      });
      // One replica rotates the key, and the other one receives it later.
      await until("all replicas to use it", async () =>
        usedKeys().every((key, index) => key !== before[index]) && new Set(usedKeys()).size === 1 ? true : undefined,
      );
      return rotated;
    };
    const rotated = await rotate();
    expect(rotated.data.previous).toBe(first.data.key);
    expect(rotated.metadata.annotations ?? {}).not.toHaveProperty(["wave.pusher.com/rotate-hash-key"]);
    await editRollsOnce("2", new RegExp(`^v2-${usedKeys()[0]}:`));

    // Rotated twice: the key of the hashes is no longer stored, so Wave records the configuration before it drops the key.
    await rotate();
    await rotate();
    await recordedConfigsToBe(true);
    await nothingRolled();
    await editRollsOnce("3", /^v2-/);
    await recordedConfigsToBe(false);

    // Deleted: Wave writes the key again.
    const before = await keys();
    await cluster.api("DELETE", secretPath);
    const restored = await until("the Secret to be back", keys);
    expect(restored.data).toEqual(before.data);
    await editRollsOnce("4", /^v2-/);

    // Lost.
    await stop();
    await cluster.api("DELETE", secretPath);
    await startWithKey();
    await recordedConfigsToBe(true);
    await nothingRolled();
    const reasons = (await waveEvents(cluster, ns, name)).filter(({ reason }) => reason === "ConfigRecorded");
    expect(new Set(reasons.map(({ involvedObject }) => involvedObject.kind))).toEqual(new Set(kindNames));
    await editRollsOnce("5", /^v2-/);
    await recordedConfigsToBe(false);

    // Disabled.
    await stop();
    await start();
    await recordedConfigsToBe(true);
    await nothingRolled();
    await editRollsOnce("6", /^v2:/);
    await recordedConfigsToBe(false);

    const everything = `${replicas.map(({ log }) => log()).join()} ${JSON.stringify(await waveEvents(cluster, ns, name))}`;
    for (const key of [first, rotated, restored].map(({ data }) => data.key ?? "")) {
      expect(everything).not.toContain(key);
      expect(everything).not.toContain(Buffer.from(key, "base64").toString("hex"));
    }
    expect(account.forbidden()).toEqual([]);
  });

  it("causes no mistake after kubectl rollout undo, which restores the recorded configuration together with its hash", async () => {
    // The previous revision has a hash under a key that is no longer stored, and Wave recorded its configuration next to the hash.
    const [current] = await hashes();
    await cluster.kubectl(["-n", ns, "rollout", "undo", `deployment/${name}`]);
    const [[reverted], [recordedConfig]] = [await hashes(), await recordedConfigs()];
    expect(reverted).toMatch(/^v2-/);
    expect(recordedConfig).toMatch(new RegExp(`^${reverted} v2:`));
    await start();
    // Pods that are newer than the last edit read what is live, and Wave records that. Otherwise Wave returns to the hash.
    await until("the hash of now", async () =>
      (await recordedHash(cluster, ns, "Deployment", name)) === current ? true : undefined,
    );
    await nothingRolled();
    await editRollsOnce("7", /^v2:/);
  });
});
