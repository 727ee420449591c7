// What a webhook does with a workload in a request, by the same plan as the reconciler. Pure.
import { preconditionOf } from "./admission-precondition.ts";
import type { DirectiveContext } from "./compatibility/directives.ts";
import type { ConfigView } from "./config/hash.ts";
import { describeMissing } from "./config/messages.ts";
import { isKubectlUndo } from "./kubectl-undo.ts";
import { patchOfKind, standardForm } from "./model/kind-row.ts";
import {
  addSchedulingHold,
  intendedScheduler,
  isSchedulingHeld,
  liftSchedulingHold,
  sameScheduler,
} from "./model/scheduling-hold.ts";
import { toWorkload, type Workload, type WorkloadObject, type WorkloadRow } from "./model/workload.ts";
import { setHash, setPinned, writeHash } from "./patch/workload-patch.ts";
import { annotationOperations, pinnedRequest, withUserAnnotations } from "./pinned-admission.ts";
import { canBePinned, contentOf, isPinned, type PinSource, pinSources } from "./pinning/pin-request.ts";
import { type DuePlan, type Lookup, planRollout } from "./plan/plan.ts";
import { isOptedIn } from "./policy/opted-in.ts";
import type { Policy } from "./policy/policy.ts";
import { rolloutPolicyOf } from "./policy/rollout-policy.ts";
import { pinnedAnnotation } from "./references/annotations.ts";
import type { Warning } from "./references/warning.ts";
import type { Annotations } from "./references/wave-annotations.ts";
import { equalJson } from "./syntax/equal-json.ts";
import type { JsonPatch, JsonPatchOperation } from "./syntax/json-patch.ts";
import { forMissingAnnotations } from "./syntax/missing-annotations.ts";

/** The response of a webhook to the creation or update of a workload. */
export interface AdmissionPlan {
  /** The patch of the object in the request; undefined if the object stays unchanged. */
  readonly patch: JsonPatch | undefined;
  /** The warnings that `kubectl` prints to the client of the request. */
  readonly warnings: readonly Warning[];
  /**
   * "hashed": the current hash is written. "kept": the recorded hash is restored. "schedulingHeld": new Pods stay pending
   * until their configuration exists. "schedulingReleased": a scheduling hold is removed. "waiting": configuration is missing,
   * but new Pods are not held. "current": nothing changes. "ignored": Wave does not manage the workload. "denied": a
   * precondition of the request failed.
   */
  readonly outcome:
    | "hashed"
    | "kept"
    | "schedulingHeld"
    | "schedulingReleased"
    | "waiting"
    | "current"
    | "ignored"
    | "denied";
  /** Why the request is denied, for its client; undefined if it is allowed. */
  readonly denied: string | undefined;
  /** Why this is the outcome, for people. */
  readonly reason: string;
  /** What must be stored and pinned with {@link pinnedPatch} before the response; undefined: the patch is complete. */
  readonly pins?: AdmissionPins | undefined;
}

/** The ConfigMaps to pin for the new Pods of a request; undefined sources: the new Pods are not pinned. */
export interface AdmissionPins {
  readonly workload: Workload;
  readonly sources: readonly PinSource[] | undefined;
  /** Finds what the new Pods read. */
  readonly lookup: Lookup;
  /** Whether the hash includes live content only. A copy of a change that is held or rejected has other content. */
  readonly areLive: boolean;
  /** Whether the request has the pins already, as an undo. Then its copies are only taken into use, and the patch is complete. */
  readonly areRequested: boolean;
}

/** A workload object in a request, and the workload that Wave reads from it. */
export interface AdmissionObject {
  /** The object as the API server sent it. */
  readonly sent: WorkloadObject;
  /** The object in its standard form. */
  readonly object: WorkloadObject;
  readonly workload: Workload;
}

/** Reads an object in a request. Throws a {@link MalformedWorkload} that names the object if it is malformed. */
export function toAdmissionObject(
  row: WorkloadRow,
  object: WorkloadObject,
  directiveContext?: DirectiveContext,
): AdmissionObject {
  const workload = toWorkload(row, object, directiveContext);
  return { sent: object, object: standardForm(row, object), workload };
}

/**
 * Plans the response to a request, by the same {@link planRollout} as the reconciler:
 *
 * - If the request creates new Pods (a CREATE, or an UPDATE of the pod template), they start with the current hash. While
 *   required configuration is missing, they are held from scheduling.
 * - Otherwise the response replaces and holds no Pod. The recorded hash stays even if the configuration has changed, and is
 *   restored if the request removed it. The controller decides when to roll.
 * - A scheduling hold stays while configuration is missing, even if the request would remove it.
 * - In `mode: observe` nothing is written, except that a removed hash is restored: without it the Pods would be replaced.
 *
 * If a client set a hash as a precondition, the annotation is removed or the request is denied.
 *
 * The patch does not have the pins of new Pods: the copies must be stored before. {@link pinnedPatch} adds them.
 *
 * A second plan of the patched object, as in a reinvocation, changes nothing more.
 */
export function planAdmission(
  operation: "CREATE" | "UPDATE",
  after: AdmissionObject,
  old: AdmissionObject | undefined,
  live: Lookup,
  policy: Policy,
): AdmissionPlan {
  const before = operation === "UPDATE" ? old : undefined;
  const undone = before && undoneObject(after, before, live, policy);
  const requested = undone ?? after;
  const keepsTemplate = before !== undefined && sameTemplates(requested, before);
  const pinned = pinnedRequest(requested.workload, before?.workload, live, policy, !keepsTemplate);
  const { workload, lookup } = pinned;
  const planned = planRollout(workload, lookup, policy);
  const plan = { ...planned, warnings: [...planned.warnings, ...pinned.warnings] };
  const precondition = preconditionOf(workload, plan, policy);
  if (precondition.state === "failed") {
    const { message: denied } = precondition;
    return { patch: undefined, warnings: plan.warnings, outcome: "denied", denied, reason: denied };
  }
  const keepsPods = keepsTemplate && !pinned.isUndo;
  const request: Request = { workload, before: before?.workload, keepsPods };
  const { mode } = rolloutPolicyOf(workload, policy);
  const mutation = mode.value === "observe" ? observe(plan, request) : mutate(plan, request, policy);
  const { outcome, view } = mutation;
  const restoresPins =
    before?.workload.recordedHash !== undefined &&
    canBePinned(workload) &&
    isOptedIn(workload, policy) &&
    outcome !== "ignored" &&
    (keepsPods || after.workload.recordedHash === undefined);
  const operations = [
    ...(undone ? annotationOperations(annotationsOf(after), annotationsOf(undone)) : []),
    ...pinned.operations,
    ...mutation.operations,
    ...(view === undefined && restoresPins ? setPinned(after.workload, before?.workload.pinned) : []),
  ];
  const checked = precondition.state === "met" ? precondition.patch : [];
  const patch = [...checked, ...(after.workload.hasAnnotations ? operations : forMissingAnnotations(operations))];
  const pinsChange = view !== undefined && (isPinned(workload, policy) || after.workload.pinned !== undefined);
  return {
    patch: patch.length > 0 ? patchOfKind(workload.row, patch) : undefined,
    warnings: plan.outcome === "waiting" ? [...plan.warnings, missingWarning(plan, workload, outcome)] : plan.warnings,
    outcome,
    denied: undefined,
    reason: plan.reason,
    pins: pinsChange
      ? {
          ...pinsOf(workload, pinSources(workload, view, lookup, policy), lookup, live),
          areRequested: pinned.isUndo,
        }
      : undefined,
  };
}

function pinsOf(
  workload: Workload,
  sources: AdmissionPins["sources"],
  lookup: Lookup,
  live: Lookup,
): Omit<AdmissionPins, "areRequested"> {
  const isLive = (source: PinSource) =>
    contentOf(source, live("ConfigMap", source.namespace, source.name)) !== undefined;
  return { workload, sources, lookup, areLive: sources?.every(isLive) ?? true };
}

/** Adds the pins of new Pods to the patch of a plan. `pinned` is the annotation; undefined: the new Pods read live configuration. */
export function pinnedPatch(
  { patch = [] }: AdmissionPlan,
  after: Workload,
  pinned: string | undefined,
): JsonPatch | undefined {
  const operations = [...patch, ...patchOfKind(after.row, setPinned(after, pinned))];
  return operations.length > 0 ? operations : undefined;
}

/**
 * Returns the object of an undo with the annotations for Wave that it had before; undefined if the request is no undo. `kubectl rollout undo`
 * of a Deployment would remove a hold and bring back an old rejection.
 */
function undoneObject(
  { sent, workload }: AdmissionObject,
  before: AdmissionObject,
  live: Lookup,
  policy: Policy,
): AdmissionObject | undefined {
  const returnsPins =
    policy.pinConfig === true && workload.pinned !== undefined && workload.pinned !== before.workload.pinned;
  const byKubectl = isKubectlUndo(sent, before.sent);
  if (!returnsPins && !byKubectl) return undefined;
  const annotations = withUserAnnotations(sent.metadata?.annotations ?? {}, before.sent.metadata?.annotations ?? {});
  const undone = toAdmissionObject(workload.row, { ...sent, metadata: { ...sent.metadata, annotations } }, policy);
  return byKubectl || pinnedRequest(undone.workload, before.workload, live, policy, true).isUndo ? undone : undefined;
}

function annotationsOf({ sent }: AdmissionObject): Annotations {
  return sent.metadata?.annotations ?? {};
}

interface Request {
  readonly workload: Workload;
  /** Undefined if the workload is being created. */
  readonly before: Workload | undefined;
  /** Whether the request replaces no Pod, apart from what Wave writes into the template. */
  readonly keepsPods: boolean;
}

interface Mutation {
  readonly outcome: AdmissionPlan["outcome"];
  readonly operations: readonly JsonPatchOperation[];
  /** What new Pods of the request read; undefined if it creates none, or if their configuration is not complete. */
  readonly view?: ConfigView;
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
      const kept = isOptedIn(workload, policy) ? keepHash(request) : [];
      return { outcome: "schedulingReleased", operations: [...kept, ...liftSchedulingHold(workload, before)] };
    }
    case "waiting":
      return mutateIncomplete(request, policy);
    case "overLimit":
      return named("kept", keepHash(request));
    case "current":
      if (workload.recordedHash === undefined) return named("kept", keepHash(request)); // the workload reads nothing
      // The hash is right. If the request creates new Pods anyway, the hash is written with the current key.
      return readsNothing(plan.view) ? named("current", []) : mutateComplete(request, plan.view);
    case "recorded":
      return mutateComplete(request, plan.newPods);
    case "firstHash":
    case "roll":
      return mutateComplete(request, plan.view);
  }
}

/** Reports whether Pods read nothing, tracked or not. */
function readsNothing({ entries, fullHash }: ConfigView): boolean {
  return entries.length === 0 && fullHash === undefined;
}

function mutateComplete(request: Request, current: ConfigView): Mutation {
  const { workload, before } = request;
  const opened = liftSchedulingHold(workload, before);
  // Pending Pods are replaced when the scheduling hold is removed, so they start with the current hash.
  if (request.keepsPods && before !== undefined && !isSchedulingHeld(before)) {
    if (workload.recordedHash === undefined || workload.recordedHash === before.recordedHash) {
      return named(opened.length > 0 ? "schedulingReleased" : "kept", [...keepHash(request), ...opened]);
    }
  }
  const written = named(opened.length > 0 ? "schedulingReleased" : "hashed", [
    ...writeHash(workload, current),
    ...opened,
  ]);
  return { ...written, view: current };
}

function mutateIncomplete(request: Request, policy: Policy): Mutation {
  const { workload, before, keepsPods } = request;
  const held = before !== undefined && isSchedulingHeld(before);
  const hash = keepHash(request);
  if (policy.schedulingHold && (!keepsPods || held)) {
    return { outcome: "schedulingHeld", operations: [...hash, ...addSchedulingHold(workload, before)] };
  }
  // The request would hold running Pods, for example `kubectl rollout undo` to a template with a scheduling hold.
  if (isSchedulingHeld(workload))
    return { outcome: "schedulingReleased", operations: [...hash, ...liftSchedulingHold(workload, before)] };
  return { outcome: "waiting", operations: hash };
}

/** Restores the recorded hash if the request removed it, or changed it and nothing else in the template. */
function keepHash({ workload, before, keepsPods }: Request): readonly JsonPatchOperation[] {
  if (before?.recordedHash === undefined || (workload.recordedHash !== undefined && !keepsPods)) return [];
  return setHash(workload, before.recordedHash, before.hashAnnotation);
}

function named(outcome: AdmissionPlan["outcome"], operations: readonly JsonPatchOperation[]): Mutation {
  return { outcome: operations.length > 0 ? outcome : "current", operations };
}

/**
 * Reports whether two states of a workload create the same Pods, apart from the hash and the scheduling hold of Wave. The API
 * server has set defaults in both states, so they can be compared as they are.
 */
function sameTemplates(after: AdmissionObject, before: AdmissionObject): boolean {
  const scheduler = intendedScheduler(after.workload, before.workload);
  const hashes = [after.workload.hashAnnotation, before.workload.hashAnnotation];
  return (
    sameScheduler(scheduler, intendedScheduler(before.workload)) &&
    equalJson(withoutWaveFields(after.object, hashes), withoutWaveFields(before.object, hashes))
  );
}

function withoutWaveFields({ spec }: WorkloadObject, hashes: readonly string[]): unknown {
  const { metadata, spec: podSpec, ...template } = spec?.template ?? {};
  const annotations = { ...metadata?.annotations };
  for (const name of [...hashes, pinnedAnnotation]) delete annotations[name];
  const { schedulerName: _schedulerName, ...rest } = podSpec ?? {};
  return { ...template, metadata: { ...metadata, annotations }, spec: rest };
}

function missingWarning(
  { missing }: DuePlan & { readonly outcome: "waiting" },
  { namespace }: Workload,
  outcome: AdmissionPlan["outcome"],
): Warning {
  const described = describeMissing(missing, namespace);
  const effect =
    outcome === "schedulingHeld" ? "New Pods stay pending until then." : "The workload is not rolled until then.";
  return { reason: "ConfigurationMissing", message: `Waiting for ${described}. ${effect}` };
}
