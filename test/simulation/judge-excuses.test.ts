import { expect, it } from "vitest";
import { excuseIn } from "./judge-excuses.ts";
import { standsFor } from "./model-search.ts";
import { namedBy } from "./model-workload.ts";
import type { BatchSettings, HistoryEntry, Pacing, StoredObject } from "./record.ts";

const pacing: Pacing = {
  settleMs: 0,
  maxConcurrent: 1,
  soakMs: 3_000,
  haltAfterFailures: 1,
  rolloutTimeoutMs: 60_000,
  observe: false,
  window: undefined,
};
const settings = { webhooks: false, schedulingHold: true, crossNamespace: "granted", namespaces: undefined, pacing };
const at = 1_000_000;

/** A Deployment that reads a ConfigMap. Not complete: its last Pod is missing. */
function deployment(name: string, hash: string | undefined, isComplete: boolean, reads = "page"): StoredObject {
  const container = { name: "app", envFrom: [{ configMapRef: { name: reads } }] };
  const annotations = hash === undefined ? {} : { "wave.pusher.com/config-hash": hash };
  const pods = isComplete ? 1 : 0;
  return {
    kind: "Deployment",
    metadata: {
      name,
      namespace: "shop",
      uid: name,
      resourceVersion: "1",
      annotations: { "wave.pusher.com/update-on-config-change": "true" },
      ...({ managedFields: [{ manager: "wave" }] } as object),
    },
    spec: { template: { metadata: { annotations }, spec: { containers: [container] } } },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: pods },
  };
}

/** A complete Deployment that checks the ConfigMap. It may roll on Wednesdays before midnight, and the test is on a Thursday. */
function validator(hash: string, change: Readonly<Record<string, string>> = {}, reads?: string): StoredObject {
  const { metadata, ...rest } = deployment("check", hash, true, reads);
  const own = { "wave.pusher.com/validator": "true", "wave.pusher.com/window": "Wed 23:00-23:59", ...change };
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...own } } };
}

/** The hash of the last content of the ConfigMap. */
const current = standsFor(namedBy(deployment("check", undefined, true), settings as unknown as BatchSettings), () =>
  page("2"),
).hash;

function page(value: string): StoredObject {
  const metadata = { name: "page", namespace: "shop", uid: "page", resourceVersion: "1" };
  return { kind: "ConfigMap", metadata, data: { a: value } };
}

/** The same with one variable, from an optional key that the ConfigMap has never had. */
function readsAbsentKey({ spec, ...rest }: StoredObject): StoredObject {
  const configMapKeyRef = { name: "page", key: "absent", optional: true };
  const container = { name: "app", env: [{ name: "A", valueFrom: { configMapKeyRef } }] };
  const { template } = spec as { readonly template: object };
  return { ...rest, spec: { template: { ...template, spec: { containers: [container] } } } };
}

type Step = readonly [time: number, actor: "wave" | "world", after: StoredObject];

function excuseAfter(steps: readonly Step[], change: Partial<Pacing> = {}): string | undefined {
  const stored = new Map<string, StoredObject>();
  const history = steps.map(([time, actor, after], index): HistoryEntry => {
    const resource = after.kind === "ConfigMap" ? "configmaps" : "deployments";
    const key = `${resource}/shop/${after.metadata.name}`;
    const before = stored.get(key);
    stored.set(key, after);
    const entry = { at: time, rv: index + 1, type: "MODIFIED" as const, resource, by: { actor }, after };
    return before === undefined ? entry : { ...entry, before };
  });
  const workload = stored.get("deployments/shop/late");
  if (workload === undefined) throw new Error("no workload");
  const find = (key: string) => stored.get(key.replace("ConfigMap", "configmaps"));
  const run = { history, settings: { ...settings, pacing: { ...pacing, ...change } } as unknown as BatchSettings };
  return excuseIn({ at, objects: stored, find }, run as Parameters<typeof excuseIn>[1], workload, "v2:new");
}

const begin: readonly Step[] = [
  [0, "world", page("1")],
  [100_000, "wave", deployment("late", "v2:old", true)],
];
/** The workload reads the ConfigMap only since its hash was set. */
const beginsToRead: readonly Step[] = [
  [600_000, "wave", deployment("late", "v2:old", true, "other")],
  [700_000, "world", deployment("late", "v2:old", true)],
];
/** A person undoes the rollout, so Wave has set the restored hash before the change. */
const undone: readonly Step[] = [
  [600_000, "wave", deployment("late", "v2:next", true)],
  [700_000, "world", deployment("late", "v2:old", true)],
];
const edit: Step = [500_000, "world", page("2")];
const rolled = (time: number, isComplete: boolean): Step => [
  time,
  "wave",
  deployment("first", `v2:${time}`, isComplete),
];
const checked = (time: number, hash = "v2:old"): Step => [time, "wave", validator(hash)];
/** The hash without a time of Wave in managedFields, as if a webhook wrote it in a request of another client. */
function byWebhook({ metadata, ...rest }: StoredObject): StoredObject {
  return { ...rest, metadata: { ...metadata, ...({ managedFields: [] } as object) } };
}
const strips = (times: number, hash: string): readonly Step[] =>
  Array.from({ length: times }, (_, n): readonly Step[] => [
    [600_000 + 10 * n, "wave", deployment("late", hash, true)],
    [600_001 + 10 * n, "world", deployment("late", undefined, true)],
  ]).flat();

const cases: readonly [string, readonly Step[], Partial<Pacing>, string | undefined][] = [
  ["nothing", [...begin, edit], {}, undefined],
  [
    "a workload that was complete, and is not complete after this change",
    [...begin, rolled(200_000, true), edit, rolled(520_000, false)],
    {},
    "batch",
  ],
  [
    "a workload that is not complete after the last change, after an undo to the content before it",
    [...begin, rolled(200_000, true), edit, rolled(520_000, false), ...undone],
    {},
    "batch",
  ],
  [
    "a workload that was not complete before this change either",
    [...begin, rolled(100_000, false), edit, rolled(520_000, false)],
    {},
    undefined,
  ],
  [
    "a workload that is not complete after the last change of an object that is read only since the hash was set",
    [...begin, rolled(200_000, true), edit, rolled(520_000, false), ...beginsToRead],
    {},
    "batch",
  ],
  [
    "a workload that is not complete since before that change",
    [...begin, rolled(400_000, false), edit, ...beginsToRead],
    {},
    undefined,
  ],
  ["a workload that is complete after this change", [...begin, edit, rolled(520_000, true)], {}, undefined],
  ["a workload that is not complete since before this change", [...begin, rolled(400_000, false), edit], {}, undefined],
  [
    "a failed workload, if failures do not halt",
    [...begin, edit, rolled(520_000, false)],
    { haltAfterFailures: 0 },
    undefined,
  ],
  ["the change, before a validator may roll", [...begin, checked(200_000), edit], {}, "batch"],
  [
    "a change that a validator checked, and a later change before it may roll",
    [
      [0, "world", page("0")],
      [100_000, "world", byWebhook(deployment("late", "v2:old", true))],
      [200_000, "world", page("1")],
      checked(300_000),
      edit,
    ],
    {},
    "batch",
  ],
  ["a change that a validator with a closed window has checked", [...begin, edit, checked(600_000)], {}, undefined],
  [
    "a change to content that a validator with a closed window has checked",
    [...begin, checked(200_000, current), edit],
    {},
    undefined,
  ],
  [
    "a change that a validator with a closed window does not read",
    [...begin, [200_000, "wave", validator("v2:old", {}, "other")], edit],
    {},
    undefined,
  ],
  [
    "a change of another key of an object, before a validator may roll, if nothing shows what the Pods have read",
    [
      [0, "world", page("1")],
      [100_000, "world", readsAbsentKey(deployment("late", undefined, true))],
      checked(200_000),
      edit,
    ],
    {},
    "batch",
  ],
  [
    "a change of another key than those of a recorded hash",
    [
      [0, "world", page("1")],
      [100_000, "wave", readsAbsentKey(deployment("late", "v2:old", true))],
      checked(200_000),
      edit,
    ],
    {},
    undefined,
  ],
  [
    "the change, while people hold a validator for good",
    [...begin, [200_000, "wave", validator("v2:old", { "wave.pusher.com/hold": "true" })], edit],
    {},
    undefined,
  ],
  ["nine removals of this hash", [...begin, edit, ...strips(9, "v2:new")], {}, undefined],
  ["ten removals of this hash", [...begin, edit, ...strips(10, "v2:new")], {}, "reverted"],
  [
    "ten removals of an earlier hash",
    [...begin, ...strips(10, "v2:old"), [900_000, "world", page("2")]],
    {},
    undefined,
  ],
];

it.for(cases)("excuses a missing rollout correctly after %s", ([, steps, change, excuse]) => {
  expect(excuseAfter(steps, change)).toBe(excuse);
});
