import { preconditionOf } from "./admission-precondition.ts";
import type { Asking } from "./compatibility/directives.ts";
import type { ConfigView } from "./config/hash.ts";
import { describeWaiting } from "./config/messages.ts";
import { patchOfKind, standardForm } from "./model/kind-row.ts";
import {
  closeSchedulingHold,
  intendedScheduler,
  isSchedulingHeld,
  openSchedulingHold,
  sameScheduler,
} from "./model/scheduling-hold.ts";
import { toWorkload, type Workload, type WorkloadObject, type WorkloadRow } from "./model/workload.ts";
import { setHash, writeHash } from "./patch/workload-patch.ts";
import { type DuePlan, type Lookup, planRollout } from "./plan/plan.ts";
import { isIn } from "./policy/is-in.ts";
import type { Policy } from "./policy/policy.ts";
import { rolloutPolicyOf } from "./policy/rollout-policy.ts";
import type { Warning } from "./references/warning.ts";
import { onAbsentAnnotations } from "./syntax/absent-annotations.ts";
import type { JsonPatch, JsonPatchOperation } from "./syntax/json-patch.ts";
import { sameJson } from "./syntax/same-json.ts";

/** What to do with a workload that is being created or updated. */
export interface AdmissionPlan {
  /** Changes the object as it is in the request; undefined where it stays as it is. */
  readonly patch: JsonPatch | undefined;
  /** What `kubectl` prints to the person who made the request. */
  readonly warnings: readonly Warning[];
  /**
   * "hashed": the current hash is written; "kept": the recorded one is restored; "gated" and "ungated": its Pods wait
   * for their configuration, or no longer do; "waiting": something is missing, but its Pods are not held; "unchanged";
   * "ignored": not Wave's; "denied": the request asks for that.
   */
  readonly outcome:
    | "hashed"
    | "kept"
    | "schedulingHeld"
    | "notSchedulingHeld"
    | "waiting"
    | "current"
    | "ignored"
    | "denied";
  /** Why the request is denied: a precondition of its own that fails. One line for the person who made it. */
  readonly denied: string | undefined;
  /** One line for a person. */
  readonly reason: string;
}

/** A workload as it is in a request, and what Wave needs to know of it. */
export interface Admitted {
  /** In its standard form. */
  readonly object: WorkloadObject;
  readonly workload: Workload;
}

/** Throws a {@link MalformedWorkload} that names the object where it is malformed. */
export function admitted(row: WorkloadRow, object: WorkloadObject, asking?: Asking): Admitted {
  const workload = toWorkload(row, object, asking);
  return { object: standardForm(row, object), workload };
}

/**
 * What admission does with a workload, by the same {@link planRollout} as the reconciler:
 *
 * - Where a request makes new Pods (a CREATE, or an UPDATE of the pod template), these begin with the current hash, or
 *   are kept from being scheduled while something required is missing.
 * - Where it does not, no Pod is replaced or held because of it: the recorded hash stays, though configuration has moved
 *   on, and comes back where the request left it out. When to roll is the controller's to decide.
 * - A gate stays closed while something is missing, also where the request would open it.
 * - Where it is only observed nothing is written, but a recorded hash that the request left out comes back: without it
 *   its Pods would be replaced.
 *
 * A hash that a client set as a precondition is taken off, or the request denied.
 *
 * Planning the patched object again, as reinvocation does, changes nothing more.
 */
export function planAdmission(
  operation: "CREATE" | "UPDATE",
  after: Admitted,
  old: Admitted | undefined,
  lookup: Lookup,
  policy: Policy,
): AdmissionPlan {
  const { workload } = after;
  const plan = planRollout(workload, lookup, policy);
  const precondition = preconditionOf(workload, plan, policy);
  if (precondition.state === "failed") {
    const { message: denied } = precondition;
    return { patch: undefined, warnings: plan.warnings, outcome: "denied", denied, reason: denied };
  }
  const before = operation === "UPDATE" ? old : undefined;
  const keepsPods = before !== undefined && sameTemplates(after, before);
  const request: Request = { workload, before: before?.workload, keepsPods };
  const { mode } = rolloutPolicyOf(workload, policy);
  const { outcome, operations } = mode.value === "observe" ? observe(plan, request) : mutate(plan, request, policy);
  const checked = precondition.state === "met" ? precondition.patch : [];
  const patch = [...checked, ...(workload.hasAnnotations ? operations : onAbsentAnnotations(operations))];
  return {
    patch: patch.length > 0 ? patchOfKind(workload.row, patch) : undefined,
    warnings: plan.outcome === "waiting" ? [...plan.warnings, missingWarning(plan, workload, outcome)] : plan.warnings,
    outcome,
    denied: undefined,
    reason: plan.reason,
  };
}

interface Request {
  readonly workload: Workload;
  /** Undefined where the workload is being created. */
  readonly before: Workload | undefined;
  /** Whether no Pod is replaced by the request, but for what Wave itself writes into the template. */
  readonly keepsPods: boolean;
}

interface Mutation {
  readonly outcome: AdmissionPlan["outcome"];
  readonly operations: readonly JsonPatchOperation[];
}

function observe(plan: DuePlan, request: Request): Mutation {
  return plan.outcome === "ignore" ? { outcome: "ignored", operations: [] } : named("kept", keepHash(request));
}

function mutate(plan: DuePlan, request: Request, policy: Policy): Mutation {
  const { workload, before } = request;
  switch (plan.outcome) {
    case "ignore":
      return { outcome: "ignored", operations: [] };
    case "cleanUp": {
      const kept = isIn(workload, policy) ? keepHash(request) : [];
      return { outcome: "notSchedulingHeld", operations: [...kept, ...openSchedulingHold(workload, before)] };
    }
    case "waiting":
      return mutateIncomplete(request, policy);
    case "overLimit":
      return named("kept", keepHash(request));
    case "current":
      if (workload.recordedHash === undefined) return named("kept", keepHash(request)); // it reads nothing
      // Its hash is right. Where new Pods are made anyway it becomes the one under the current key.
      return readsNothing(plan.view) ? named("current", []) : mutateComplete(request, plan.view);
    case "recorded":
      return mutateComplete(request, plan.newPods);
    case "firstHash":
    case "roll":
      return mutateComplete(request, plan.view);
  }
}

/** Whether Pods see nothing, also of what does not count. */
function readsNothing({ entries, everything }: ConfigView): boolean {
  return entries.length === 0 && everything === undefined;
}

function mutateComplete(request: Request, current: ConfigView): Mutation {
  const { workload, before } = request;
  const opened = openSchedulingHold(workload, before);
  // Pods that were held are replaced when their gate opens, so they begin with the current hash.
  if (request.keepsPods && before !== undefined && !isSchedulingHeld(before)) {
    if (workload.recordedHash === undefined || workload.recordedHash === before.recordedHash) {
      return named(opened.length > 0 ? "notSchedulingHeld" : "kept", [...keepHash(request), ...opened]);
    }
  }
  return named(opened.length > 0 ? "notSchedulingHeld" : "hashed", [...writeHash(workload, current), ...opened]);
}

function mutateIncomplete(request: Request, policy: Policy): Mutation {
  const { workload, before, keepsPods } = request;
  const held = before !== undefined && isSchedulingHeld(before);
  const hash = keepHash(request);
  if (policy.schedulingHold && (!keepsPods || held)) {
    return { outcome: "schedulingHeld", operations: [...hash, ...closeSchedulingHold(workload, before)] };
  }
  // The request closes the gate of Pods that run, as `kubectl rollout undo` does when it goes back to a gated template.
  if (isSchedulingHeld(workload))
    return { outcome: "notSchedulingHeld", operations: [...hash, ...openSchedulingHold(workload, before)] };
  return { outcome: "waiting", operations: hash };
}

/** Restores the recorded hash where the request left it out, or changed it and nothing else of the template. */
function keepHash({ workload, before, keepsPods }: Request): readonly JsonPatchOperation[] {
  if (before?.recordedHash === undefined || (workload.recordedHash !== undefined && !keepsPods)) return [];
  return setHash(workload, before.recordedHash, before.hashAnnotation);
}

function named(outcome: AdmissionPlan["outcome"], operations: readonly JsonPatchOperation[]): Mutation {
  return { outcome: operations.length > 0 ? outcome : "current", operations };
}

/**
 * Whether two states of a workload make the same Pods but for Wave's own hash and gate. The API server has defaulted
 * both before it asks, so that equal means equal.
 */
function sameTemplates(after: Admitted, before: Admitted): boolean {
  const scheduler = intendedScheduler(after.workload, before.workload);
  const hashes = [after.workload.hashAnnotation, before.workload.hashAnnotation];
  return (
    sameScheduler(scheduler, intendedScheduler(before.workload)) &&
    sameJson(withoutOurs(after.object, hashes), withoutOurs(before.object, hashes))
  );
}

function withoutOurs({ spec }: WorkloadObject, hashes: readonly string[]): unknown {
  const { metadata, spec: podSpec, ...template } = spec?.template ?? {};
  const annotations = { ...metadata?.annotations };
  for (const name of hashes) delete annotations[name];
  const { schedulerName: _schedulerName, ...rest } = podSpec ?? {};
  return { ...template, metadata: { ...metadata, annotations }, spec: rest };
}

function missingWarning(
  { missing }: DuePlan & { readonly outcome: "waiting" },
  { namespace }: Workload,
  outcome: AdmissionPlan["outcome"],
): Warning {
  const effect = outcome === "schedulingHeld" ? "its Pods stay Pending until then" : "it is not rolled until then";
  return { reason: "ConfigurationMissing", message: `${describeWaiting(missing, namespace)}: ${effect}` };
}
