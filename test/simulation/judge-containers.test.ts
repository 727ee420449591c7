import { describe, expect, it } from "vitest";
import { mixedAtEnd } from "./judge-containers.ts";
import { judgeReplacements } from "./judge-replacements.ts";
import { standsFor } from "./model-search.ts";
import { namedBy } from "./model-workload.ts";
import type { ContainerStart, HistoryEntry, Recording, StoredObject } from "./record.ts";

const second = 1_000;

function stored(kind: string, name: string, fields: object = {}, metadata: object = {}): StoredObject {
  return { kind, metadata: { namespace: "shop", name, uid: name, resourceVersion: "1", ...metadata }, ...fields };
}

const settings = { crossNamespace: "granted", namespaces: undefined, pacing: undefined } as const;
const reads = {
  env: { containers: [{ name: "app", env: [{ name: "V", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }] }] },
  files: {
    containers: [{ name: "app", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
    volumes: [{ name: "v", configMap: { name: "c" } }],
  },
};
const config = (value: string) => stored("ConfigMap", "c", { data: { k: value } });

/** Returns a DaemonSet and its Pod, with the hash of the value "A": in the pod template, or recorded on the DaemonSet. */
function workloadWith(spec: object, { isBeside, image }: Case): readonly [StoredObject, StoredObject] {
  const optIn = { annotations: { "wave.pusher.com/update-on-config-change": "true" } };
  const bare = stored("DaemonSet", "web", { spec: { template: { spec } } }, optIn);
  const { hash } = standsFor(namedBy(bare, settings), () => config("A"));
  const annotations = isBeside ? {} : { "wave.pusher.com/config-hash": hash };
  const beside = { ...optIn.annotations, "wave.pusher.com/recorded-config": ` ${hash}` };
  const metadata = isBeside ? { ...bare.metadata, annotations: beside } : bare.metadata;
  const containers = reads.env.containers.map((container) => ({ ...container, image }));
  const template = { metadata: { annotations }, spec: image === undefined ? spec : { ...spec, containers } };
  const web = { ...bare, metadata, spec: { template } };
  const ownerReferences = [{ uid: "web", controller: true }];
  return [web, stored("Pod", "web-1", { spec: { ...spec, nodeName: "node" } }, { annotations, ownerReferences })];
}

interface Case {
  readonly reads?: object;
  /** When the container started, in seconds. The value "B" is stored from 100 to 150 s. */
  readonly startedAt: number;
  /** The time of the state that its files show. Default: when it started. */
  readonly filesOf?: number;
  /** When the leader took over. */
  readonly leadsFrom?: number;
  /** When another leader took over. */
  readonly nextLeadsFrom?: number;
  readonly wallOffMs?: number;
  /** Whether Wave rolls the workload with the same hash at 300 s. */
  readonly rolled?: boolean;
  /** Whether the hash is recorded on the workload, not in its pod template. */
  readonly isBeside?: boolean;
  /** When Wave recorded it there. Default: it was there when the DaemonSet was created. */
  readonly recordedAt?: number;
  /** The value "A" and one more key are stored from 100 to 150 s, not "B". This is when the leader first lists the object. */
  readonly listedAt?: number;
  /** The image of the pod template, which the Pod does not have. Default: no image, like the Pod. */
  readonly image?: string;
}

function recordingOf(given: Case): Recording {
  const [web, pod] = workloadWith(given.reads ?? reads.env, given);
  const cluster = { actor: "kube-controller-manager" };
  const wave = { actor: "wave", replica: "a#1" };
  const lease = { ...stored("Lease", "wave"), spec: { holderIdentity: "a" } };
  const other = given.listedAt === undefined ? config("B") : { ...config("A"), data: { k: "A", gone: "B" } };
  const { annotations: recorded } = web.metadata;
  const { "wave.pusher.com/recorded-config": _, ...annotations } = recorded ?? {};
  const created = given.recordedAt === undefined ? web : { ...web, metadata: { ...web.metadata, annotations } };
  const history: HistoryEntry[] = [
    { at: 0, rv: 1, type: "ADDED", resource: "configmaps", after: config("A"), by: cluster },
    { at: 0, rv: 2, type: "ADDED", resource: "daemonsets", after: created, by: cluster },
    { at: 100 * second, rv: 100, type: "MODIFIED", resource: "configmaps", after: other, by: cluster },
    { at: 150 * second, rv: 150, type: "MODIFIED", resource: "configmaps", after: config("A"), by: cluster },
  ];
  const leadsFrom = given.leadsFrom ?? 0;
  history.push({ at: leadsFrom * second, rv: 3, type: "ADDED", resource: "leases", after: lease, by: wave });
  if (given.nextLeadsFrom !== undefined) {
    const by = { actor: "wave", replica: "b#1" };
    history.push({ at: given.nextLeadsFrom * second, rv: 5, type: "MODIFIED", resource: "leases", after: lease, by });
  }
  history.push({ at: 1, rv: 4, type: "ADDED", resource: "pods", after: pod, by: cluster });
  if (given.recordedAt !== undefined) {
    const [at, rv] = [given.recordedAt * second, given.recordedAt];
    history.push({ at, rv, type: "MODIFIED", resource: "daemonsets", before: created, after: web, by: wave });
  }
  if (given.rolled) {
    const template = (web.spec as { readonly template: StoredObject }).template;
    const annotations = { ...template.metadata.annotations, "wave.pusher.com/rolled-at": "2026-01-01T00:05:00Z" };
    const after = { ...web, spec: { template: { ...template, metadata: { annotations } } } };
    history.push({ at: 300 * second, rv: 300, type: "MODIFIED", resource: "daemonsets", before: web, after, by: wave });
  }
  history.sort((a, b) => a.at - b.at);
  const at = given.startedAt * second;
  const start: ContainerStart = {
    at,
    rv: given.startedAt,
    filesRv: given.filesOf ?? given.startedAt,
    pod: "web-1",
    container: "app",
  };
  const first: ContainerStart = { ...start, at: 20 * second, rv: 20, filesRv: 20 };
  const listedAt = new Map([["configmaps/", (given.listedAt ?? 0) * second]]);
  const lives = [{ replica: "a#1", from: 0, wallOffMs: given.wallOffMs ?? 0, listedAt }];
  const containers = { starts: [first, start], rightAt: [600 * second] };
  return { history, settings, calmAt: -600 * second, lives, containers } as unknown as Recording;
}

const removed = { reads: reads.files, startedAt: 120, isBeside: true, recordedAt: 200, nextLeadsFrom: 130 };

describe("the judge of containers", () => {
  it.each<[string, Case]>([
    ["started while the configuration differed", { startedAt: 120 }],
    ["started in a difference that was noted before the leader changed", { startedAt: 120, nextLeadsFrom: 160 }],
    ["started while the configuration differed, with a hash on the workload", { startedAt: 120, isBeside: true }],
    ["read a key whose removal a watch has shown", { ...removed, listedAt: 140 }],
    ["shows a file from before the configuration was right", { reads: reads.files, startedAt: 200, filesOf: 140 }],
  ])("finds a container that %s", (_what, given) => {
    expect(mixedAtEnd(recordingOf(given))).toMatchObject([
      expect.stringContaining("and read ConfigMap/shop/c of 100000"),
    ]);
  });

  it.each<[string, Case]>([
    ["started before", { startedAt: 90 }],
    ["started afterwards", { startedAt: 151 }],
    ["started afterwards and shows the file of that time", { reads: reads.files, startedAt: 160 }],
    ["started in a difference that began before the leader knew everything", { startedAt: 120, leadsFrom: 95 }],
    ["started in a difference that was too short to be noted", { startedAt: 120, nextLeadsFrom: 130 }],
    ["read a key that was removed before the first list", { ...removed, listedAt: 160 }],
    ["belongs to an earlier pod template without a hash", { startedAt: 120, isBeside: true, image: "app:2" }],
    ["started in a difference, while the clock of the leader was wrong", { startedAt: 120, wallOffMs: 60_000 }],
  ])("accepts a container that %s", (_what, given) => {
    expect(mixedAtEnd(recordingOf(given))).toEqual([]);
  });

  it.each<[string, Case]>([
    ["before the configuration differed", { startedAt: 85 }],
    ["afterwards", { startedAt: 170 }],
  ])("finds the rollout of a Pod whose container started %s", (_when, given) => {
    const found = judgeReplacements(recordingOf({ ...given, rolled: true }));
    expect(found).toMatchObject([expect.stringContaining("rolled daemonsets/shop/web")]);
  });

  it.each<[string, Case]>([
    ["in the difference", { startedAt: 120 }],
    ["close to the difference", { startedAt: 155 }],
    ["when its files may have been old", { reads: reads.files, startedAt: 260, filesOf: 260 }],
    ["close to the difference, by the clock of the leader", { startedAt: 170, wallOffMs: 30_000 }],
    ["before the leader knew everything", { startedAt: 170, leadsFrom: 165 }],
  ])("accepts the rollout of a Pod whose container started %s", (_when, given) => {
    expect(judgeReplacements(recordingOf({ ...given, rolled: true }))).toEqual([]);
  });
});
