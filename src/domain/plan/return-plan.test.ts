import { describe, expect, it } from "vitest";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  readsAll,
  unpaced,
  workload,
} from "../../../test/support/domain/objects.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { Workload } from "../model/workload-shape.ts";
import { batchMember } from "../pacing/batch-member.ts";
import type { Moment } from "../pacing/moment.ts";
import { maxPreviousLength, previousPinsAfter } from "../pinning/pin-request.ts";
import { rejectionDigest } from "../pinning/rejections.ts";
import { rulesFor } from "../policy/rules.ts";

const now = Date.UTC(2026, 0, 1, 12);
const policy = { ...defaultPolicy, pinConfig: true, pacing: unpaced };
const copyOf = (page: string) => pinnedCopy(`page-000000000${page}`, { a: page });
const pod = readsAll("ConfigMap", "page");
const returns = { "wave.pusher.com/pin-config": "true", "wave.pusher.com/on-failure": "return" };

const lookup = lookupOf(configMap("page", { a: "2" }), copyOf("1"), copyOf("2"));
const hashOf = (page: string) => {
  const plan = planRollout(workload({ pod }), lookupOf(configMap("page", { a: page })), policy);
  return "hash" in plan ? plan.hash : "";
};

/** Returns a workload that was rolled from page "1" to "2" one timeout ago, and whose Pods are not ready. */
function failed(change: Partial<Workload> = {}, annotations: Readonly<Record<string, string | undefined>> = {}) {
  const of = workload({
    pod,
    annotations: { ...returns, "wave.pusher.com/previous-pins": `${hashOf("2")} page=page-0000000001`, ...annotations },
    templateAnnotations: {
      "wave.pusher.com/config-hash": hashOf("2"),
      "wave.pusher.com/pinned": "page=page-0000000002",
    },
  });
  const rolledAt = (now - unpaced.rolloutTimeoutMs) / 1000;
  const progress = { state: "progressing", step: 0, available: 1 } as const;
  return { ...of, rolledAt, progress, ...change };
}

const moment = (change: Partial<Moment> = {}): Moment => ({
  now,
  changes: undefined,
  lastWrite: undefined,
  progressSince: 0,
  ...change,
});

const planned = (workload: Workload, live = lookup, at = moment()) =>
  decide({ workload, lookup: live, policy, moment: at });
const digest = (page: string) => rejectionDigest(failed(), lookupOf(configMap("page", { a: page })), "page");

describe("a rollout that failed", () => {
  it("returns to the pins before it, and rejects the content that failed", () => {
    expect(planned(failed())).toMatchObject({
      outcome: "roll",
      hash: hashOf("1"),
      reason: 'the rollout failed, and Pods return to the earlier content of ConfigMap "page"',
      returns: { pinned: "page=page-0000000001", rejected: `page=${digest("2")}`, names: ["page"] },
    });
  });

  it("returns also if the rollout that failed could not be pinned", () => {
    const returned = { pinned: "page=page-0000000001", rejected: `page=${digest("2")}`, names: ["page"] };
    expect(planned(failed({ pinned: undefined }))).toMatchObject({ outcome: "roll", returns: returned });
  });

  it("returns also if the client that wrote the pod template has changed an annotation since", () => {
    const { rolledAt } = failed();
    const of = (editedAt: number) =>
      failed({
        templateEditedAt: rolledAt + 5,
        templateWrite: { revision: 7, at: undefined, editedAt, isFirst: false, hasOnlyNewPods: true },
      });
    expect(planned(of(rolledAt))).toHaveProperty("returns");
    expect(planned(of(rolledAt + 5))).not.toHaveProperty("returns");
  });

  it("returns also if a person resumed it in the second of the rollout, because that may have been before", () => {
    const resumed = (ms: number) => ({
      "wave.pusher.com/resumed": new Date(now - unpaced.rolloutTimeoutMs + ms).toISOString(),
    });
    expect(planned(failed({}, resumed(999)))).toHaveProperty("returns");
    expect(planned(failed({}, resumed(1_000)))).not.toHaveProperty("returns");
  });

  it("returns at once if an alert began to fire", () => {
    const of = failed({ rolledAt: now / 1000, progress: { state: "complete", since: undefined } });
    expect(planned(of, lookup, moment({ failedAlert: "Errors" }))).toHaveProperty("returns");
    expect(planned(of)).not.toHaveProperty("returns");
  });

  it("returns at once if the status reports the failure", () => {
    const rolledAt = now / 1000;
    expect(planned(failed({ rolledAt, progress: { state: "failed" } })).outcome).toBe("roll");
  });

  it("returns when its deadline is over, and is planned again then", () => {
    const before = planned(failed(), lookup, moment({ now: now - 1 }));
    expect(before).toMatchObject({ outcome: "current", checkAt: now });
    expect(planned(failed()).outcome).toBe("roll");
  });

  it("returns however old it is, because a process that was killed has recorded no pass", () => {
    expect(planned(failed(), lookup, moment({ now: now + 86_400_000, advancedAt: now + 80_000_000 }))).toHaveProperty(
      "returns",
    );
  });

  it("returns at once if the batches halt a newer edit, and not while other workloads roll first", () => {
    const live = lookupOf(configMap("page", { a: "3" }), copyOf("1"), copyOf("2"));
    const batched = { ...policy, pacing: { ...unpaced, maxConcurrent: 1, haltAfterFailures: 1 } };
    const world = { workload: failed(), lookup: live, policy: batched, moment: moment() };
    const heldBy = (reason: "batch" | "halted") =>
      decide({ ...world, batchHold: () => ({ reason, message: "", until: undefined, warning: false }) });
    expect(heldBy("halted")).toMatchObject({ outcome: "roll", returns: { names: ["page"] } });
    expect(heldBy("batch")).toMatchObject({ outcome: "held", hold: { reason: "batch" } });
    expect(decide(world)).toMatchObject({ outcome: "roll", hash: hashOf("3") });
  });

  it("rolls to a newer edit within a minimum interval, because a failed workload does not wait for it", () => {
    const live = lookupOf(configMap("page", { a: "3" }), copyOf("1"), copyOf("2"));
    const plan = planned(failed({}, { "wave.pusher.com/min-interval": "24h" }), live);
    expect(plan).toMatchObject({ outcome: "roll", hash: hashOf("3") });
  });

  it("is current again after the return", () => {
    const of = workload({
      pod,
      annotations: { ...returns, "wave.pusher.com/rejected-configmaps": `page=${digest("2")}` },
      templateAnnotations: {
        "wave.pusher.com/config-hash": hashOf("1"),
        "wave.pusher.com/pinned": "page=page-0000000001",
      },
    });
    expect(planned(of)).toMatchObject({ outcome: "current", warnings: [{ reason: "RolledBack" }] });
  });

  it.each<[string, Workload, Partial<Moment>]>([
    ["is complete", failed({ progress: { state: "complete", since: undefined } }), {}],
    ["was complete for the soak time", failed(), { completeMs: 1 }],
    ["replaces no Pod", failed({ progress: { state: "idle" } }), {}],
    ["was a rollout of another client", failed({ templateEditedAt: now / 1000 }), {}],
    ["was resumed", failed({}, { "wave.pusher.com/resumed": new Date(now).toISOString() }), {}],
    ["is to halt", failed({}, { "wave.pusher.com/on-failure": "halt" }), {}],
    ["has the previous pins of another rollout", failed({ recordedHash: hashOf("3") }), {}],
    ["has malformed previous pins", failed({ previousPins: `${hashOf("2")} page=other` }), {}],
    ["had the same content before", failed({ previousPins: `${hashOf("2")} page=page-0000000002` }), {}],
  ])("does not return if it %s", (_when, of, at) => {
    expect(planned(of, lookup, moment(at))).not.toHaveProperty("returns");
  });

  it("does not return if a hold is on the workload, and returns if its change is not approved", () => {
    const held = planned(failed({}, { "wave.pusher.com/hold": "true" }));
    expect(held).toMatchObject({ outcome: "held", hold: { reason: "hold" }, due: { outcome: "roll" } });
    expect(planned(failed({}, { "wave.pusher.com/mode": "approve" }))).toHaveProperty("returns");
  });

  it("does not return while a person holds every rollout", () => {
    const clusterHold = { namespace: "wave-system", reason: "INC-12" };
    const plan = decide({ workload: failed(), lookup, policy: { ...policy, clusterHold }, moment: moment() });
    expect(plan).toMatchObject({ outcome: "held", hold: { reason: "clusterHold" } });
  });

  it("rolls forward to newer content", () => {
    const live = lookupOf(configMap("page", { a: "3" }), copyOf("1"), copyOf("2"));
    const plan = planned(failed(), live);
    expect(plan).toMatchObject({ outcome: "roll", hash: hashOf("3") });
    expect(plan).not.toHaveProperty("returns");
  });

  it("returns while newer content is not approved, and does not reject the newer content", () => {
    const live = lookupOf(configMap("page", { a: "3" }), copyOf("1"), copyOf("2"));
    expect(planned(failed({}, { "wave.pusher.com/mode": "approve" }), live)).toMatchObject({
      hash: hashOf("1"),
      returns: { rejected: undefined, names: ["page"] },
    });
  });

  it("reports that it cannot return if a copy is gone", () => {
    const plan = planned(failed(), lookupOf(configMap("page", { a: "2" }), copyOf("2")));
    expect(plan).toMatchObject({ outcome: "current", warnings: [{ message: /cannot return/ }] });
  });
});

it("a rollout does not return while a Pod does not start for another reason, or before its Pods are read", () => {
  const stuck = { state: "stuck", pod: "web-0", reason: "Unschedulable", message: "" } as const;
  for (const progress of [failed().progress, { state: "failed" } as const]) {
    expect(planned(failed({ progress }))).toHaveProperty("returns");
    for (const newPods of [stuck, { state: "unread" } as const])
      expect(planned(failed({ progress }), lookup, moment({ newPods }))).not.toHaveProperty("returns");
  }
});

describe("a rollout that was complete", () => {
  const soaked = { ...policy, pacing: { ...unpaced, soakMs: 10_000 } };
  const complete = { progress: { state: "complete", since: undefined } } as const;
  const at = (change: Partial<Moment>, of = failed(complete)) =>
    decide({ workload: of, lookup, policy: soaked, moment: moment(change) });
  const own = `${hashOf("2")} page=page-0000000002`;

  it("has passed after the soak time, and not while Wave reads the restarts of its containers", () => {
    expect(at({ progressSince: now - 9_999 })).toMatchObject({ outcome: "current", checkAt: now + 1 });
    expect(at({ progressSince: now - 10_000 })).toMatchObject({ outcome: "current", previousPins: own });
    const early = { now: now - 1, progressSince: now - 100_000 };
    expect(at(early)).toMatchObject({ checkAt: now });
    expect(
      at({ progressSince: now - 100_000, newPods: { state: "restarts", pod: "web-0", container: "app", restarts: 3 } }),
    ).toHaveProperty("returns");
  });

  it("has passed, and does not return if it loses a Pod later, whichever process sees that", () => {
    expect(at({ completeMs: 10_000 }, failed())).toMatchObject({ outcome: "current", previousPins: own });
    const passed = failed({}, { "wave.pusher.com/previous-pins": own });
    expect(at({}, passed)).not.toHaveProperty("returns");
    expect(at({}, passed)).not.toHaveProperty("previousPins");
  });

  it("returns nowhere after it has passed with pins that are too long", () => {
    const source = "x".repeat(230);
    const pins = Array.from({ length: 40 }, (_, i) => `${source}${i}=${source}${i}-0000000001`).join(",");
    const plan = at({ completeMs: 10_000 }, failed({ pinned: pins }));
    expect(plan).toHaveProperty("previousPins", undefined);
  });
});

it("warns that a workload without pins cannot return", () => {
  const plan = planned(workload({ pod, annotations: { "wave.pusher.com/on-failure": "return" } }));
  expect(plan.warnings).toEqual([{ reason: "InvalidAnnotation", message: expect.stringContaining("not pinned") }]);
});

describe("previousPinsAfter", () => {
  const rollTo = (of: Workload) => previousPinsAfter(of, "h", rulesFor(of, policy));
  const complete = { progress: { state: "complete", since: undefined } } as const;

  it("returns the pins of the last complete rollout", () => {
    expect(rollTo(failed(complete))).toBe("h page=page-0000000002");
    expect(rollTo(failed())).toBe("h page=page-0000000001");
    // The status is that of the rollout before the last one.
    const unseen = { state: "progressing", step: 1, available: 1, wasComplete: true } as const;
    expect(rollTo(failed({ progress: unseen }))).toBe("h page=page-0000000001");
    // An approval has raised the generation of a workload that has passed or returned.
    expect(rollTo(failed({ progress: unseen, previousPins: undefined }))).toBe("h page=page-0000000002");
  });

  /** Returns pins of 250 characters for each ConfigMap. */
  const longPins = (configMaps: number) =>
    Array.from({ length: configMaps }, (_, i) => {
      const name = `${String(i).padStart(3, "0")}${"x".repeat(116)}`;
      return `${name}=${name}-0000000001`;
    }).join(",");

  it("returns pins up to the limit", () => {
    expect(longPins(32).length).toBeLessThanOrEqual(maxPreviousLength);
    expect(longPins(33).length).toBeGreaterThan(maxPreviousLength);
    expect(rollTo(failed({ ...complete, pinned: longPins(32) }))).toBe(`h ${longPins(32)}`);
  });

  it.each<[string, Workload]>([
    ["is to halt", failed(complete, { "wave.pusher.com/on-failure": undefined })],
    ["has no earlier rollout that was complete", failed({ previousPins: undefined })],
    ["had no pins", failed({ ...complete, pinned: undefined })],
    ["has pins that are malformed", failed({ ...complete, pinned: "page=other-0000000001" })],
    ["has pins that are too long", failed({ ...complete, pinned: longPins(33) })],
  ])("returns nothing if a workload %s", (_when, of) => {
    expect(rollTo(of)).toBeUndefined();
  });
});

describe("a workload that rejects a change", () => {
  const flags = { ...unpaced, maxConcurrent: 5 };
  const stage = (of: Workload, live = lookup, resumedAt?: number) =>
    batchMember(
      {
        key: "web",
        workload: of,
        rules: {
          batches: { value: true, by: "flag" },
          priority: { value: 0, by: "flag" },
          resumedAt,
          validatorRequired: false,
          excludeConfigMaps: { value: new Set<string>(), by: "flag" },
          excludeSecrets: { value: new Set<string>(), by: "flag" },
        },
        held: undefined,
        lastWrite: undefined,
        completeSince: undefined,
        advancedAt: undefined,
        completeMs: 0,
      },
      "none",
      "ConfigMap/default/page",
      { changedAt: now - 700_000, seenAt: undefined },
      { lookup: live, flags, now },
    )?.stage.state;
  const returned = failed({
    rejected: `page=${digest("2")}`,
    pinned: "page=page-0000000001",
    progress: { state: "complete", since: undefined },
  });

  it("has failed for the batches of the change, until a person resumes it or the object changes again", () => {
    expect(stage(returned)).toBe("failed");
    expect(stage({ ...returned, rejected: undefined })).toBe("passed");
    expect(stage(returned, lookup, now)).toBeUndefined();
    expect(stage(returned, lookupOf(configMap("page", { a: "3" }), copyOf("1")))).toBe("passed");
  });
});

it("knows when another client changed the pod template", () => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  const managedFields = [
    { manager: "wave", time: at(9), fieldsV1: { "f:spec": { "f:template": {} } } },
    { manager: "kubectl-annotate", time: at(8), fieldsV1: { "f:metadata": {} } },
    { manager: "kubectl", time: at(7), fieldsV1: { "f:spec": { "f:template": { "f:spec": {} } } } },
    { manager: "old", time: at(6), fieldsV1: { "f:spec": { "f:template": {} } } },
  ];
  const object = {
    metadata: { namespace: "default", name: "web", managedFields },
    spec: { selector: {}, template: { spec: { containers: [] } } },
  };
  expect(toWorkload(kinds.Deployment, object).templateEditedAt).toBe(7);
});
