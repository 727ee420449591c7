import { expect, it } from "vitest";
import { judgeRecorded } from "./judge-recorded.ts";
import { standsFor } from "./model-search.ts";
import { namedBy } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

function stored(kind: string, name: string, fields: object = {}, metadata: object = {}): StoredObject {
  return { kind, metadata: { namespace: "shop", name, uid: name, resourceVersion: "1", ...metadata }, ...fields };
}

const settings = { crossNamespace: "granted", namespaces: undefined, pacing: undefined } as const;
const config = stored("ConfigMap", "c", { data: { k: "A" } });
const volume = (optional: boolean) => ({
  containers: [{ name: "app" }],
  volumes: [{ name: "v", configMap: { name: "c", optional } }],
});
const env = (optional: boolean) => ({
  containers: [
    { name: "app", env: [{ name: "V", valueFrom: { configMapKeyRef: { name: "c", key: "k", optional } } }] },
  ],
});

/**
 * Judges a record at 30 s of a ConfigMap that had these states since these times, in seconds. The Pod got its node at 10 s, and its container
 * was started at the times of `starts`. Wave sent the record at `sentAt`.
 */
function judged(
  spec: object,
  states: readonly (readonly [number, StoredObject])[],
  lists: readonly (readonly [string, number])[] = [["", 0]],
  starts: readonly number[] = [],
  sentAt = 30,
): readonly string[] {
  const before = stored("DaemonSet", "web", { spec: { template: { spec } } });
  const { hash } = standsFor(namedBy(before, settings), () => config);
  const annotations = { "wave.pusher.com/recorded-config": ` ${hash}` };
  const after = { ...before, metadata: { ...before.metadata, annotations } };
  const pod = stored(
    "Pod",
    "web-1",
    { spec: { ...spec, nodeName: "node" } },
    { ownerReferences: [{ uid: "web", controller: true }] },
  );
  const entry = (at: number, resource: string, of: StoredObject, actor: string): HistoryEntry => {
    return { at: 1000 * at, rv: at, type: "ADDED", resource, after: of, by: { actor, replica: "a#1" } };
  };
  const started = starts.map((at, restartCount) => {
    const running = { startedAt: `${at}` };
    return [
      at,
      { ...pod, status: { containerStatuses: [{ name: "app", restartCount, state: { running } }] } },
    ] as const;
  });
  const history = [
    entry(1, "daemonsets", before, "world"),
    entry(10, "pods", pod, "kube-controller-manager"),
    ...started.map(([at, of], index) => ({
      ...entry(at, "pods", of, "kubelet"),
      before: started[index - 1]?.[1] ?? pod,
    })),
    ...states.map(([at, state]) => entry(at, "configmaps", state, "world")),
    {
      ...entry(30, "daemonsets", after, "wave"),
      type: "MODIFIED",
      before,
      by: { actor: "wave", replica: "a#1", sentAt: 1000 * sentAt },
    } as const,
  ].sort((a, b) => a.at - b.at);
  const listedAt = new Map(lists.map(([namespace, at]) => [`configmaps/${namespace}`, 1000 * at]));
  const lives = [{ replica: "a#1", from: 0, listedAt }];
  return judgeRecorded({ history, settings, lives } as unknown as Recording);
}

const more = { ...config, data: { k: "A", gone: "B" } };
const older = [expect.stringContaining("older than the recorded content")];

it.each([
  ["a volume that no container mounts", volume(false), 20, []],
  ["a volume that no container mounts, which may be missing", volume(true), 20, older],
  ["a volume that may be missing, and that was there before", volume(true), 5, []],
  ["a variable", env(false), 20, []],
  ["a variable that may be missing, and that was there before", env(true), 5, []],
])("the judge knows which Pods have waited for %s", (_, spec, createdAt, violations) => {
  expect(judged(spec, [[createdAt, config]])).toEqual(violations);
});

it.each([
  ["allows a removal of a key before the first list", { k: "A", gone: "B" }, 25, []],
  ["reports a removal of a key that a watch has shown", { k: "A", gone: "B" }, 15, older],
  ["reports another change before the first list", { k: "B" }, 25, older],
])("the judge %s of the process", (_, data, listedAt, violations) => {
  const states = [[5, { ...config, data }] as const, [20, config] as const];
  expect(judged(volume(false), states, [["shop", listedAt]])).toEqual(violations);
});

it.each([
  ["reports a removal before the record and the later list", [5, 20], [more, config], older],
  ["ignores a removal after the record, before the later list", [5, 29.5, 32], [config, more, config], []],
])("the judge %s of one namespace, if the process has listed all namespaces", (_, times, states, violations) => {
  const edits = times.map((at, index) => [at, states[index] ?? config] as const);
  const lists = [["", 0] as const, ["shop", 35] as const];
  expect(judged(volume(false), edits, lists)).toEqual(violations);
});

it("the judge reports an edit after the first list, although a key was removed before the list", () => {
  const other = { ...config, data: { k: "B" } };
  const edits = [[5, { ...other, data: { k: "B", gone: "B" } }] as const, [15, other] as const, [25, config] as const];
  expect(judged(volume(false), edits, [["shop", 20]])).toEqual(older);
});

it.each([
  ["no key: the start of the container counts", "other", []],
  ["a key: the node counts", "k", older],
])("the judge knows that a mount with subPath shows %s", (_, subPath, violations) => {
  const [container] = env(false).containers;
  const volumes = [{ name: "v", configMap: { name: "c", items: [{ key: "k", path: "k" }] } }];
  const spec = { containers: [{ ...container, volumeMounts: [{ name: "v", subPath }] }], volumes };
  const states = [[5, { ...config, data: { k: "B" } }] as const, [20, config] as const];
  expect(judged(spec, states)).toEqual(violations);
});

it.each([
  ["allows an edit and the first start after Wave listed the Pods", [29.8], []],
  ["reports a container that has read earlier content", [11, 29.8], older],
  ["allows a container that has started again since", [11, 25, 29.8], []],
])("the judge %s", (_, starts, violations) => {
  const [before, edited] = [{ k: "B" }, { k: "C" }].map((data) => ({ ...config, data }));
  const states = [
    [5, before],
    [20, config],
    [29.7, edited],
  ] as [number, StoredObject][];
  expect(judged(env(false), states, undefined, starts)).toEqual(violations);
});

it.each([
  ["does not count a Pod that got its node after the record was sent", 8, []],
  ["counts a Pod that got its node before the record was sent, although it arrived later", 12, older],
])("the judge %s", (_, sentAt, violations) => {
  const states = [
    [5, config],
    [9, more],
    [11, config],
  ] as const;
  expect(judged(volume(false), states, [["", 0]], [], sentAt)).toEqual(violations);
});
