import { describe, expect, it } from "vitest";
import { judgePins } from "./judge-pins.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

const pinned = { annotations: { "wave.pusher.com/pinned": "page=page-0123456789" } };
const label = { labels: { "wave.pusher.com/pinned-copy": "true" } };

function stored(kind: string, name: string, fields: object = {}, metadata: object = {}): StoredObject {
  return { kind, metadata: { namespace: "shop", name, uid: name, resourceVersion: "1", ...metadata }, ...fields };
}

const copy = (value: string) => stored("ConfigMap", "page-0123456789", { data: { a: value } }, label);

/** Returns the findings after these objects were stored, and the last one was deleted by Wave if `deletes`. */
function judged(objects: readonly (readonly [string, StoredObject])[], deletes = true): readonly string[] {
  const history: HistoryEntry[] = objects.map(([resource, after], i) => ({
    ...{ at: i, rv: i + 1, type: "ADDED", resource, after, by: { actor: "kube-controller-manager" } },
  }));
  const [, last] = objects.at(-1) ?? [];
  if (deletes && last !== undefined)
    history.push({ at: 99, rv: 99, type: "DELETED", resource: "configmaps", before: last, by: { actor: "wave" } });
  return judgePins({ history, reviews: [], calmAt: -99_999, settings: { pinConfig: true } } as unknown as Recording);
}

const volume = (name: string) => ({ containers: [], volumes: [{ name: "v", configMap: { name } }] });
const template = { metadata: pinned, spec: volume("page") };

describe("the judge of pins", () => {
  it.each<[string, string, StoredObject]>([
    ["a Pod", "pods", stored("Pod", "web", { spec: volume("page-0123456789") })],
    ["a ReplicaSet with replicas", "replicasets", stored("ReplicaSet", "web", { spec: { replicas: 1, template } })],
    ["a pod template", "deployments", stored("Deployment", "web", { spec: { replicas: 0, template } })],
  ])("finds the deletion of a copy that is used by %s", (_what, resource, object) => {
    expect(
      judged([
        [resource, object],
        ["configmaps", copy("1")],
      ]),
    ).toEqual([
      `pins: configmaps shop/page-0123456789 at 99 ms: Wave deletes it although ${resource}/shop/web uses it`,
    ]);
  });

  it("finds the deletion of a copy of the revision that a StatefulSet still runs", () => {
    const set = stored("StatefulSet", "web", { status: { currentRevision: "web-1" } });
    const revision = stored("ControllerRevision", "web-1", { data: { spec: { template } } });
    const objects = [
      ["statefulsets", set],
      ["controllerrevisions", revision],
      ["configmaps", copy("1")],
    ] as const;
    expect(judged(objects)).toHaveLength(1);
  });

  it.each<[string, string, StoredObject]>([
    ["a finished Pod", "pods", stored("Pod", "web", { spec: volume("page-0123456789"), status: { phase: "Failed" } })],
    ["an old ReplicaSet", "replicasets", stored("ReplicaSet", "web", { spec: { replicas: 0, template } })],
  ])("accepts the deletion of a copy of %s", (_what, resource, object) => {
    expect(
      judged([
        [resource, object],
        ["configmaps", copy("1")],
      ]),
    ).toEqual([]);
  });

  it("finds a new Pod that reads a pinned ConfigMap itself", () => {
    expect(judged([["pods", stored("Pod", "web", { spec: volume("page") }, pinned)]], false)).toEqual([
      "pins: pods shop/web at 0 ms: it reads ConfigMap page itself, and not the copy",
    ]);
  });

  it("finds a copy whose name had another content before", () => {
    expect(
      judged(
        [
          ["configmaps", copy("1")],
          ["configmaps", copy("2")],
        ],
        false,
      ),
    ).toHaveLength(1);
  });

  it("finds a hash that the copies do not have, and a copy that does not exist", () => {
    const annotations = { ...pinned.annotations, "wave.pusher.com/config-hash": "v2:0" };
    const spec = { template: { ...template, metadata: { annotations } } };
    const web = stored("Deployment", "web", { spec });
    const page = stored("ConfigMap", "page", { data: { a: "1" } });
    expect(judged([["deployments", web]], false)).toMatchObject([expect.stringContaining("which does not exist")]);
    expect(
      judged(
        [
          ["configmaps", page],
          ["configmaps", copy("1")],
          ["deployments", web],
        ],
        false,
      ),
    ).toMatchObject([expect.stringContaining("does not stand for what its copies have")]);
  });

  it("finds a rollout by Wave without pins, if no fault explains it", () => {
    const metadata = { annotations: { "wave.pusher.com/pin-config": "true" } };
    const template = { metadata: { annotations: { "wave.pusher.com/config-hash": "v2:0" } }, spec: volume("page") };
    const after = stored("Deployment", "web", { spec: { template } }, metadata);
    const page = stored("ConfigMap", "page", { data: { a: "1" } });
    const by = { actor: "wave" };
    const history = [
      { at: 1, rv: 1, type: "ADDED", resource: "configmaps", after: page, by },
      { at: 2, rv: 2, type: "MODIFIED", resource: "deployments", after, by },
    ];
    const of = { history, reviews: [], settings: { pinConfig: true } };
    const found = "pins: deployments shop/web at 2 ms: it does not pin ConfigMap page";
    expect(judgePins({ ...of, calmAt: -99_999 } as unknown as Recording)).toEqual([found]);
    expect(judgePins({ ...of, calmAt: 0 } as unknown as Recording)).toEqual([]);
  });

  it("finds other pins with an unchanged hash in a review of the webhook", () => {
    const page = stored("ConfigMap", "page", { data: { a: "1" } });
    const annotations = { "wave.pusher.com/pinned": "page=page-9999999999", "wave.pusher.com/config-hash": "v2:0" };
    const optIn = { annotations: { "wave.pusher.com/update-on-config-change": "true" } };
    const web = (of: object) =>
      stored("Deployment", "web", { spec: { template: { ...template, metadata: of } } }, optIn);
    const [before, after] = [web({ annotations: { "wave.pusher.com/config-hash": "v2:0" } }), web({ annotations })];
    const by = { actor: "world" };
    const history = [
      { at: 1, rv: 1, type: "ADDED", resource: "configmaps", after: page, by },
      { at: 2, rv: 3, type: "MODIFIED", resource: "deployments", before, after, by },
    ];
    const about = { kind: "Deployment", namespace: "shop", name: "web", object: after, patch: [], answeredRv: 2 };
    const run = { history, reviews: [about], calmAt: 0, settings: { pinConfig: true } };
    expect(judgePins(run as unknown as Recording)).toMatchObject([expect.stringContaining("which does not exist")]);
  });
});
