import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../test/support/domain/objects.ts";
import { defaultFlags } from "../../../test/support/pacing/due.ts";
import { type Workload, workloadKey } from "../model/workload-shape.ts";
import { rejectionDigest } from "../pinning/rejections.ts";
import type { NewPods } from "../pods/new-pods.ts";
import { rulesFor } from "../policy/rules.ts";
import { batchMember, type MemberFacts, type MemberPosition } from "./batch-member.ts";
import { admitBatch, type BatchAdmission, type BatchMember } from "./batches.ts";
import type { Stage } from "./stage.ts";
import { canCheck } from "./validator.ts";

const object = { kind: "ConfigMap", namespace: "shop", name: "page" } as const;
const flags = { ...defaultFlags, maxConcurrent: 5, soakMs: 30_000 };
const due: Stage = { state: "due", resumedAt: undefined, wasComplete: true };
const rolling: Stage = { state: "progressing", until: 600_000, wasComplete: true };
const passed: Stage = { state: "passed" };
const exit = { pod: "check-1", container: "nginx", exitCode: 1 };
const failed: Stage = { state: "failed", rolledAt: 4_000, wasComplete: true, exit };
const unusable: Stage = { state: "unusable", why: "it is paused" };
const elsewhere: Stage = { state: "heldElsewhere" };

function admit(
  validators: readonly Stage[],
  readers: readonly Stage[],
  validator: "optional" | "required" = "optional",
): BatchAdmission {
  const member = (name: string) => (stage: Stage, index: number) => ({
    ...{ key: `Deployment/shop/${name}${index}`, priority: 0, weight: 0, stage },
  });
  const members: readonly BatchMember[] = [
    ...readers.map(member("web")),
    ...validators.map(member("check")).map((each) => ({ ...each, validator })),
  ];
  return admitBatch({ object, namespace: "shop", members }, flags);
}

const namesOf = (keys: Iterable<string>) => [...keys].map((key) => key.split("/").at(-1));

describe("the validators of a change", () => {
  const held: Stage = { state: "held", reason: "window" };
  const incomplete = { wasComplete: false } as const;
  const three = [due, due, due];
  it.each<[string, readonly Stage[], readonly Stage[], readonly string[], string]>([
    ["start alone and at once", [due, due], three, ["check0", "check1"], "batch"],
    ["go before a single reader", [due], [due], ["check0"], "batch"],
    ["are waited for", [rolling, passed], three, [], "batch"],
    ["are waited for during the soak time", [{ state: "soaking", until: 9_000 }], three, [], "batch"],
    ["are waited for while another hold delays them", [held], three, [], "batch"],
    ["are waited for while another change delays them", [elsewhere], three, [], "batch"],
    ["let the canary start when all have passed", [passed, passed], three, ["web0"], "batch"],
    ["are no canary: the reader after them is", [passed], [rolling, due], [], "batch"],
    ["halt all others if one fails", [failed, passed], three, [], "validator"],
    ["still start if another one failed", [failed, due], three, ["check1"], "validator"],
    ["also stop batches that have begun", [failed], [passed, rolling, due], [], "validator"],
    ["delay nothing if they cannot check the change", [unusable], three, ["web0"], "batch"],
    ["delay nothing if they failed before", [{ ...due, ...incomplete }], three, ["check0", "web0"], "batch"],
    ["are waited for if only one of them cannot check", [unusable, rolling], three, [], "batch"],
    ["do not undo a halt by readers", [passed], [failed, due], [], "halted"],
    ["start also if readers failed", [due], [failed, due], ["check0"], "halted"],
  ])("%s", (_, validators, readers, admitted, reason) => {
    const result = admit(validators, readers);
    expect(namesOf(result.admitted)).toEqual(admitted);
    expect(result.hold.reason).toBe(reason);
    expect(result.halted).toBe(reason !== "batch");
  });

  it("halt the change until a person resumes a reader after the failure", () => {
    const resumed = (resumedAt: number): Stage => ({ ...due, resumedAt });
    expect(namesOf(admit([failed], [resumed(3_000), resumed(5_000), due]).admitted)).toEqual(["web1"]);
  });

  it("name the container, its exit code and the command that shows its log", () => {
    expect(admit([failed], [due]).hold).toMatchObject({ object, warning: true });
    expect(admit([failed], [due]).hold.message).toBe(
      'Rollout halted: validator Deployment "check0" failed after ConfigMap "page" changed: container "nginx" exited with code 1. ' +
        "Run: kubectl logs check-1 -c nginx -n shop. Continues when the validator passes another change, or you run: wave resume configmap/page -n shop.",
    );
  });

  it("name the hold that delays them", () => {
    expect(admit([rolling, held], [due]).hold.message).toContain(
      'Waiting for validator Deployment "check1", which checks the change of ConfigMap "page" first. Its rollout is held (window).',
    );
  });

  it("hold the change if they are required and cannot check it, and report nothing else", () => {
    const { halted, hold, unusable: reported } = admit([unusable], [due], "required");
    expect({ halted, reason: hold.reason }).toEqual({ halted: true, reason: "validator" });
    expect(hold.message).toContain('cannot check the change of ConfigMap "page": it is paused');
    expect(reported).toEqual([{ key: "Deployment/shop/check0", why: "it is paused" }]);
  });

  it("do not hold the change if they are required and pass", () => {
    expect(namesOf(admit([passed], [due, due], "required").admitted)).toEqual(["web0"]);
  });
});

const changedAt = 1_000_000;
const now = changedAt + 60_000;
const seconds = (after: number) => changedAt / 1_000 + after;
const lookup = lookupOf({ ...configMap("page", { a: "2" }), changedAt: changedAt / 1_000 });

/** A validator that Wave rolled 30 seconds after the change, and that was complete before. */
function validator(change: Partial<Workload> = {}): Workload {
  const annotations = { "wave.pusher.com/validator": "true" };
  return {
    ...workload({ annotations, pod: readsAll("ConfigMap", "page") }),
    recordedHash: "v2:new",
    consecutiveRollouts: "1",
    rolledAt: seconds(30),
    hashWrittenAt: seconds(30),
    progress: { state: "progressing", step: 0, available: 0 },
    ...change,
  };
}

interface Given extends Partial<MemberFacts> {
  readonly position?: MemberPosition;
  readonly annotations?: Readonly<Record<string, string>>;
}

function memberOf({ position = "none", ...facts }: Given, change: Partial<Workload> = {}): BatchMember | undefined {
  const of = validator(change);
  return batchMember(
    {
      key: workloadKey(of),
      workload: of,
      rules: rulesFor(of, { ...defaultPolicy, pacing: flags }),
      held: undefined,
      lastWrite: undefined,
      completeSince: undefined,
      advancedAt: undefined,
      completeMs: 0,
      ...facts,
    },
    position,
    "ConfigMap/default/page",
    { changedAt, seenAt: undefined },
    { lookup, flags, now },
  );
}

describe("the stage of a validator", () => {
  const before = { rolledAt: seconds(-30), hashWrittenAt: seconds(-30) };
  const complete = { progress: { state: "complete", since: seconds(40) } } as const;
  const idle = { progress: { state: "idle" } } as const;
  const exited: NewPods = { state: "exited", ...exit };
  const heldBy = (reason: NonNullable<MemberFacts["held"]>["reason"]) => ({
    held: { reason, changed: new Set(["ConfigMap/default/page"]) },
  });
  const stuck: NewPods = { state: "stuck", pod: "check-1", reason: "Unschedulable", message: "" };
  /** Another client wrote the template with the change, so that Wave only records the hash. */
  const appliedWithIt = { ...before, templateEditedAt: seconds(0), hashWrittenAt: seconds(2) };
  const passedBefore = { progress: { state: "complete", since: seconds(-20) } } as const;
  const timedOut = { progress: { state: "failed" } } as const;
  const lostPods = { progress: { state: "progressing", step: 0, available: 0, lostPods: true } } as const;
  const unobserved = { progress: { state: "progressing", step: 0, available: 1, wasComplete: true } } as const;
  const rejecting = {
    pinned: "page=page-0000000001",
    rejected: `page=${rejectionDigest(validator(), lookup, "page")}`,
  };
  /** Another client wrote the template with an edit long before the change, so that Wave only recorded the hash. */
  const appliedBefore = { rolledAt: seconds(-300), templateEditedAt: seconds(-100), hashWrittenAt: seconds(-98) };
  const cases: readonly [string, Given, Partial<Workload>, object | undefined][] = [
    ["is complete", {}, complete, { state: "soaking" }],
    ["was complete for the soak time", {}, { progress: { state: "complete", since: seconds(10) } }, passed],
    ["rolls", {}, {}, { state: "progressing", wasComplete: true }],
    [
      "is complete, and its Pods are not read yet",
      { newPods: { state: "unread" } },
      complete,
      { state: "progressing" },
    ],
    ["exits", { newPods: exited }, {}, { state: "failed", exit }],
    ["exits after it was complete", { newPods: exited }, complete, { state: "failed", exit }],
    ["exits long after it has passed", { newPods: exited, completeMs: 60_000 }, complete, passed],
    ["is not complete in time", { advancedAt: now - 700_000 }, { rolledAt: seconds(1) }, { state: "progressing" }],
    ["reports its deadline", {}, { progress: { state: "failed" } }, { state: "failed", wasComplete: true }],
    ["is stuck", { newPods: stuck }, {}, { state: "unusable", why: "it is stuck (Unschedulable)" }],
    ["is paused", {}, idle, { state: "unusable", why: "it is paused" }],
    ["is scaled to 0", {}, { ...idle, replicas: 0 }, { state: "unusable", why: "it is scaled to 0" }],
    [
      "lost its hash to another client",
      { lastWrite: { hash: `v2:${"f".repeat(64)}`, at: seconds(1) } },
      {},
      { state: "unusable", why: "another client removed its hash" },
    ],
    ["was failing before", {}, { rolledIncomplete: "never" }, { state: "unusable" }],
    ["was failing before, and is complete", {}, { ...complete, rolledIncomplete: "never" }, { state: "soaking" }],
    [
      "was resumed after its failure",
      { newPods: exited },
      { policy: { validator: "true", resumed: iso(31) } },
      undefined,
    ],
    [
      "was resumed before its failure",
      { newPods: exited },
      { policy: { validator: "true", resumed: iso(5) } },
      { state: "failed" },
    ],
    ["passed before a change that it does not read", {}, { ...before, ...passedBefore }, undefined],
    ["soaked long before a change that it does not read", { completeMs: 60_000 }, before, undefined],
    ["soaks since before a change that it does not read", {}, { ...before, ...complete }, { state: "soaking" }],
    ["failed before a change that it does not read", {}, { ...before, ...timedOut }, { state: "failed" }],
    ["exited before a change that it does not read", { newPods: exited }, before, { state: "failed", exit }],
    ["still rolls at a change that it does not read", { advancedAt: now }, before, { state: "progressing" }],
    ["is stuck since before a change that it does not read", { newPods: stuck }, before, { state: "unusable" }],
    ["is paused at a change that it does not read", {}, { ...before, ...idle }, { state: "unusable" }],
    ["was applied with an earlier change, and exits", { newPods: exited }, appliedBefore, { state: "failed", exit }],
    [
      "rolled back before a change that it does not read",
      {},
      { ...before, ...passedBefore, ...rejecting },
      { state: "failed" },
    ],
    [
      "failed for its own reason before a change that it does not read",
      {},
      { ...before, ...timedOut, rolledIncomplete: "never" },
      { state: "unusable", why: "it was failing before the change" },
    ],
    [
      "fails since another client changed it before a change that it does not read",
      {},
      { ...before, ...timedOut, templateEditedAt: seconds(-20) },
      { state: "unusable", why: "it was failing before the change" },
    ],
    ["lost its Pods before a change that it does not read", {}, { ...before, ...lostPods }, undefined],
    [
      "was ready a moment, and exits before a change that it does not read",
      { newPods: exited },
      { ...before, ...lostPods },
      { state: "failed", exit },
    ],
    ["is edited after it has passed", { completeSince: seconds(-20) * 1_000 }, { ...before, ...unobserved }, undefined],
    ["was rolled a moment ago by its status of before", {}, { ...before, ...unobserved }, { state: "soaking" }],
    [
      "was rolled for another object only",
      { lastWrite: { hash: "v2:new", at: seconds(-30) * 1_000, includes: [] } },
      { ...before, ...timedOut },
      undefined,
    ],
    [
      "failed, and was resumed before a change that it does not read",
      {},
      { ...before, ...timedOut, policy: { resumed: iso(-10) } },
      undefined,
    ],
    ["is held by a window", heldBy("window"), { ...before, ...complete }, { state: "held", reason: "window" }],
    ["is held by an approval", heldBy("approval"), { ...before, ...complete }, { state: "held", reason: "approval" }],
    [
      "is on hold",
      heldBy("hold"),
      { ...before, ...complete },
      { state: "unusable", why: "its rollout is held (hold)" },
    ],
    ["is observed", heldBy("observed"), { ...before, ...complete }, { state: "unusable" }],
    [
      "waits for an object",
      { blocked: "it waits for a missing object" },
      { ...before, ...complete },
      { state: "unusable" },
    ],
    ["is due", { position: "due" }, { ...before, ...complete }, { state: "due", wasComplete: true }],
    ["is due, and another edit has broken it", { position: "due" }, before, { state: "due", wasComplete: true }],
    [
      "is due, and another client applies it with the change",
      { position: "due" },
      { ...before, consecutiveRollouts: undefined, templateEditedAt: seconds(-1) },
      { state: "due", wasComplete: true },
    ],
    [
      "is held while it is applied with the change",
      heldBy("progressing"),
      { ...before, rolledIncomplete: "never", templateEditedAt: seconds(1) },
      { state: "held", reason: "progressing" },
    ],
    [
      "is due, and was broken before",
      { position: "due" },
      { ...before, rolledIncomplete: "never" },
      { state: "due", wasComplete: false },
    ],
    ["was applied with the change, and rolls", { completeMs: 60_000 }, appliedWithIt, { state: "progressing" }],
    ["was applied with the change, and exits", { newPods: exited }, appliedWithIt, { state: "failed", exit }],
    ["was applied with the change, and is complete", {}, { ...appliedWithIt, ...complete }, { state: "soaking" }],
  ];
  it.each(cases)("that %s", (_, given, change, expected) => {
    const stage = memberOf(given, { ...change, policy: { validator: "true", ...change.policy } })?.stage;
    if (expected === undefined) expect(stage).toBeUndefined();
    else expect(stage).toMatchObject(expected);
  });

  it("is that of any other workload on another kind, which gets a warning", () => {
    const annotations = { "wave.pusher.com/validator": "true" };
    const of = workload({ kind: "DaemonSet", annotations });
    expect(memberOf({ newPods: exited }, of)?.validator).toBeUndefined();
    expect(of.mistakes.map(({ message }) => message)).toEqual([
      "Annotation wave.pusher.com/validator has no effect on a DaemonSet. Run the check in a Deployment of its own, and set the annotation there.",
    ]);
    expect(memberOf({})?.validator).toBe("optional");
  });
});

/** Returns a time of the API, in seconds after the change. */
function iso(after: number): string {
  return new Date(seconds(after) * 1_000).toISOString();
}

describe("a validator that is not complete", () => {
  const failing = { state: "failed" } as const;
  it.each<[string, Partial<Workload>, boolean]>([
    ["can check the next edit if its last rollout broke it", { progress: failing }, true],
    ["can check the next edit while that rollout goes on", {}, true],
    ["cannot if it was broken before that rollout", { rolledIncomplete: "never" }, false],
    ["cannot if Wave has never rolled it", { consecutiveRollouts: undefined }, false],
    [
      "cannot if it was complete since",
      { progress: { state: "progressing", step: 0, available: 0, lostPods: true } },
      false,
    ],
    ["cannot if another client broke it", { templateEditedAt: seconds(40) }, false],
    ["can if it was applied with the last edit", { templateEditedAt: seconds(40), hashWrittenAt: seconds(41) }, true],
    ["cannot if it has no Pods", { progress: { state: "idle" } }, false],
  ])("%s", (_, change, expected) => {
    expect(canCheck(validator(change), changedAt + 200_000)).toBe(expected);
  });

  it.each<[string, number | undefined, Partial<Workload>, boolean]>([
    ["can if it had Pods until then", undefined, {}, true],
    ["can if that client replaces its Pods", 41, {}, true],
    ["cannot if it had none before", 20, {}, false],
    ["can if the last rollout by Wave took them", 35, { consecutiveRollouts: "2" }, true],
  ])("and that another client applies with the edit %s", (_, unavailable, change, expected) => {
    const since = unavailable === undefined ? {} : { unavailableSince: seconds(unavailable) };
    const progress = { state: "progressing", step: 0, available: 0, ...since } as const;
    const of = { consecutiveRollouts: undefined, templateEditedAt: seconds(40), progress, ...change };
    expect(canCheck(validator(of), changedAt + 45_000)).toBe(expected);
  });

  it("has lost Pods by the status of a Deployment from the end of a rollout until the next one", () => {
    const status = (reason: string) => ({
      ...{ observedGeneration: 3, replicas: 1, updatedReplicas: 1, availableReplicas: 0 },
      conditions: [{ type: "Progressing", status: "True", reason }],
    });
    const progress = (reason: string) => workload({ spec: { replicas: 1 }, status: status(reason) }).progress;
    expect(progress("NewReplicaSetAvailable")).toMatchObject({ state: "progressing", lostPods: true });
    expect(progress("ReplicaSetUpdated")).toEqual({ state: "progressing", step: 0, available: 0 });
    const conditions = [{ type: "Available", status: "False", lastTransitionTime: iso(7) }];
    expect(workload({ spec: { replicas: 1 }, status: { ...status(""), conditions } }).progress).toMatchObject({
      unavailableSince: seconds(7),
    });
  });
});
