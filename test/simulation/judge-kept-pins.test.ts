import { describe, expect, it } from "vitest";
import { judgeKeptPins } from "./judge-kept-pins.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

const pacing = { observe: false, window: undefined, settleMs: 0 };
const optIn = { "wave.pusher.com/update-on-config-change": "true", "wave.pusher.com/pin-config": "true" };

function stored(kind: string, name: string, fields: object, metadata: object = {}): StoredObject {
  return { kind, metadata: { namespace: "shop", name, uid: name, resourceVersion: "1", ...metadata }, ...fields };
}

function web(copy: string | undefined, annotations: object): StoredObject {
  const pinned = copy === undefined ? {} : { "wave.pusher.com/pinned": `page=${copy}` };
  const spec = { containers: [], volumes: [{ name: "v", configMap: { name: "page" } }] };
  const hash = { "wave.pusher.com/config-hash": "v2:1" };
  const template = { metadata: { annotations: { ...hash, ...pinned } }, spec };
  return stored("Deployment", "web", { spec: { template } }, { annotations: { ...optIn, ...annotations } });
}

/** Returns the findings about a review after which new Pods read this copy, or the ConfigMap itself. */
function judged(copy: string | undefined, annotations: object, ofPage: object = {}): readonly string[] {
  const copied = { labels: { "wave.pusher.com/pinned-copy": "true" } };
  const configs = [
    stored("ConfigMap", "page-old", { data: { a: "1" } }, copied),
    stored("ConfigMap", "page-same", { data: { a: "1" } }, copied),
    stored("ConfigMap", "page-new", { data: { a: "2" } }, copied),
    stored("ConfigMap", "page", { data: { a: "2" } }, { annotations: ofPage }),
  ];
  const history: HistoryEntry[] = configs.map((after, i) => ({
    ...{ at: i, rv: i + 1, type: "ADDED", resource: "configmaps", after, by: { actor: "world" } },
  }));
  const of = { at: 9, replica: "a#1", operation: "UPDATE", kind: "Deployment", namespace: "shop", name: "web" };
  const objects = { object: web(copy, annotations), oldObject: web("page-old", annotations) };
  const reviews = [{ ...of, ...objects, patch: [], warnings: [], askedRv: 4, answeredRv: 4 }];
  const settings = { pinConfig: true, pacing, crossNamespace: "granted" };
  return judgeKeptPins({ history, reviews, settings } as unknown as Recording);
}

const found =
  "kept pins: a#1 on Deployment shop/web at 9 ms: new Pods read a change of ConfigMap/shop/page that is held";

describe("the judge of kept pins", () => {
  it.each<[string, object, object]>([
    ["on hold", { "wave.pusher.com/hold": "true" }, {}],
    ["observed", { "wave.pusher.com/mode": "observe" }, {}],
    ["not approved", { "wave.pusher.com/mode": "approve" }, {}],
    ["on hold by its own annotation", {}, { "wave.pusher.com/hold": "true" }],
  ])("finds a change that new Pods read although it is %s", (_what, annotations, ofPage) => {
    expect(judged("page-new", annotations, ofPage)).toEqual([found]);
    expect(judged(undefined, annotations, ofPage)).toEqual([found]);
    expect(judged("page-old", annotations, ofPage)).toEqual([]);
  });

  it("accepts a change that nothing holds, and another copy of the same content", () => {
    expect(judged("page-new", {})).toEqual([]);
    expect(judged("page-same", { "wave.pusher.com/hold": "true" })).toEqual([]);
  });
});
