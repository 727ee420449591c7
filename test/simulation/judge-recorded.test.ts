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

/** Judges a record of a ConfigMap that was created at this time, in seconds. The Pod got its node at 10 s. */
function judged(spec: object, createdAt: number): readonly string[] {
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
    return { at: 1000 * at, rv: at, type: "ADDED", resource, after: of, by: { actor } };
  };
  const history = [
    entry(1, "daemonsets", before, "world"),
    entry(10, "pods", pod, "kube-controller-manager"),
    entry(createdAt, "configmaps", config, "world"),
    { ...entry(30, "daemonsets", after, "wave"), type: "MODIFIED", before } as const,
  ].sort((a, b) => a.at - b.at);
  return judgeRecorded({ history, settings, lives: [] } as unknown as Recording);
}

const older = [expect.stringContaining("older than the recorded content")];

it.each([
  ["a volume that no container mounts", volume(false), 20, []],
  ["a volume that no container mounts, which may be missing", volume(true), 20, older],
  ["a volume that may be missing, and that was there before", volume(true), 5, []],
  ["a variable", env(false), 20, []],
  ["a variable that may be missing, and that was there before", env(true), 5, []],
])("the judge knows which Pods have waited for %s", (_, spec, createdAt, violations) => {
  expect(judged(spec, createdAt)).toEqual(violations);
});
