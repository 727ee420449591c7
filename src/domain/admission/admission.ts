// What a webhook does with a workload in a request, by the same plan as the reconciler. Pure.

import type { DirectiveContext } from "../compatibility/directives.ts";
import { describeMissing, type Lookup } from "../config/view-of-references.ts";
import { patchOfKind, standardForm, type WorkloadRow } from "../model/kind-row.ts";
import { acceptsSchedulingHold, intendedScheduler, sameScheduler } from "../model/scheduling-hold.ts";
import { changedUserAnnotations, isKubectlUndo, keptAnnotations } from "../model/undo-request.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { DuePlan } from "../outcomes/outcomes.ts";
import { setPinned } from "../patch/workload-patch.ts";
import {
  canBePinned,
  contentOf,
  isPinned,
  type PinSource,
  pinSources,
  unusableCopies,
} from "../pinning/pin-request.ts";
import { pinsIn, type ReadablePins, readablePins } from "../pinning/pinned-lookup.ts";
import { planRollout } from "../plan/plan.ts";
import type { Policy } from "../policy/policy.ts";
import { isOptedIn, rulesFor } from "../policy/rules.ts";
import { type Annotations, pinnedAnnotation } from "../references/annotations.ts";
import type { Warning } from "../references/warning.ts";
import { equalJson, forMissingAnnotations, type JsonPatch } from "../syntax/json.ts";
import {
  type AdmissionOutcome,
  type MutatedRequest,
  mutate,
  observe,
  preconditionOf,
  staysRecorded,
} from "./mutation.ts";
import { annotationOperations, type HaltLookup, pinnedRequest, withUserAnnotations } from "./pinned-admission.ts";

/** The response of a webhook to the creation or update of a workload. */
interface AdmissionPlan {
  /** The patch of the object in the request; undefined if the object stays unchanged. */
  readonly patch: JsonPatch | undefined;
  /** The warnings that `kubectl` prints to the client of the request. */
  readonly warnings: readonly Warning[];
  readonly outcome: AdmissionOutcome;
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
 * `isHalted` finds the changes that are halted. Default: none.
 *
 * A second plan of the patched object, as in a reinvocation, changes nothing more.
 */
export function planAdmission(
  operation: "CREATE" | "UPDATE",
  after: AdmissionObject,
  old: AdmissionObject | undefined,
  live: Lookup,
  policy: Policy,
  isHalted: HaltLookup = () => false,
): AdmissionPlan {
  const before = operation === "UPDATE" ? old : undefined;
  const undone = before && undoneObject(after, before, live, policy);
  const requested = undone ?? after;
  const rules = rulesFor(requested.workload, policy);
  const keepsTemplate = before !== undefined && sameTemplates(requested, before);
  const pinned = pinnedRequest(requested.workload, before?.workload, live, rules, !keepsTemplate, isHalted);
  const { workload, lookup } = pinned;
  const planned = planRollout(workload, lookup, rules);
  const kept = undone ? changedUserAnnotations(annotationsOf(after), annotationsOf(undone)) : [];
  const plan = { ...planned, warnings: [...planned.warnings, ...pinned.warnings, ...keptAnnotations(kept)] };
  const precondition = preconditionOf(workload, plan, rules);
  if (precondition.state === "failed") {
    const { message: denied } = precondition;
    return { patch: undefined, warnings: plan.warnings, outcome: "denied", denied, reason: denied };
  }
  const keepsPods = keepsTemplate && !pinned.isUndo;
  const canBeHeld = acceptsSchedulingHold(workload) && (before !== undefined || !hasPartition(requested.object));
  const request: MutatedRequest = { workload, plan, before: before?.workload, keepsPods, canBeHeld };
  const mutation = rules.mode.value === "observe" ? observe(request) : mutate(request, rules);
  const { outcome, view } = mutation;
  const restoresPins =
    staysRecorded(request) && canBePinned(workload) && isOptedIn(workload, rules) && outcome !== "ignored";
  const templatePins = restoresPins ? before?.workload.pinned : after.workload.pinned;
  // The copies of a new pod template that gets no hash were stored for the one before.
  const isUnchecked = view === undefined && !keepsPods && !pinned.isUndo && rules.storesCopies;
  const stays: ReadablePins = isUnchecked
    ? readablePins({ ...workload, pinned: templatePins }, before?.workload, live)
    : { pinned: templatePins, live: [] };
  const operations = [
    ...(undone ? annotationOperations(annotationsOf(after), annotationsOf(undone)) : []),
    ...pinned.operations,
    ...mutation.operations,
    ...(view === undefined ? setPinned(after.workload, stays.pinned) : []),
  ];
  const checked = precondition.state === "met" ? precondition.patch : [];
  const patch = [...checked, ...(after.workload.hasAnnotations ? operations : forMissingAnnotations(operations))];
  const warnings = withLivePins(plan.warnings, stays.live);
  const pinsChange = view !== undefined && (isPinned(workload, rules) || after.workload.pinned !== undefined);
  return {
    patch: patch.length > 0 ? patchOfKind(workload.row, patch) : undefined,
    warnings: plan.outcome === "waiting" ? [...warnings, missingWarning(plan, workload, outcome)] : warnings,
    outcome,
    denied: undefined,
    reason: plan.reason,
    pins: pinsChange
      ? pinsOf(workload, pinSources(workload, view, lookup, rules), lookup, live, pinned.isUndo)
      : undefined,
  };
}

/** Adds the warning about ConfigMaps that new Pods read live. It names those of an earlier warning, too. */
function withLivePins(warnings: readonly Warning[], live: readonly string[]): readonly Warning[] {
  if (live.length === 0) return warnings;
  return [...warnings.filter(({ reason }) => reason !== "Unpinned"), unusableCopies(live)];
}

function pinsOf(
  workload: Workload,
  sources: AdmissionPins["sources"],
  lookup: Lookup,
  live: Lookup,
  isUndo: boolean,
): AdmissionPins {
  const isLive = (source: PinSource) =>
    contentOf(source, live("ConfigMap", source.namespace, source.name)) !== undefined;
  const names = new Set(sources?.map(({ name }) => name));
  const areRequested = isUndo && [...pinsIn(workload.pinned).keys()].every((name) => names.has(name));
  return { workload, sources, lookup, areLive: sources?.every(isLive) ?? true, areRequested };
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
 * Returns the object of an undo with the annotations for Wave that it had before; undefined if the request is no undo. Otherwise
 * `kubectl rollout undo` of a Deployment would remove a hold, bring back a released one, or opt the workload out.
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
  const rules = rulesFor(undone.workload, policy);
  const { isUndo } = pinnedRequest(undone.workload, before.workload, live, rules, true, () => false);
  return byKubectl || isUndo ? undone : undefined;
}

function missingWarning(
  { missing }: DuePlan & { readonly outcome: "waiting" },
  { namespace }: Workload,
  outcome: AdmissionOutcome,
): Warning {
  const described = describeMissing(missing, namespace);
  const effect =
    outcome === "schedulingHeld" ? "New Pods stay pending until then." : "The workload is not rolled until then.";
  return { reason: "ConfigurationMissing", message: `Waiting for ${described}. ${effect}` };
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

/**
 * Reports whether a workload keeps the first pod template for some of its Pods (StatefulSet, CloneSet). These Pods would keep the scheduling hold
 * with which the workload was created.
 */
function hasPartition({ spec }: WorkloadObject): boolean {
  type Update = { readonly partition?: unknown; readonly rollingUpdate?: { readonly partition?: unknown } | null };
  const { updateStrategy } = { ...spec } as { readonly updateStrategy?: Update | null };
  const partition = updateStrategy?.rollingUpdate?.partition ?? updateStrategy?.partition ?? 0;
  return partition !== 0 && partition !== "0%";
}

function withoutWaveFields({ spec }: WorkloadObject, hashes: readonly string[]): unknown {
  const { metadata, spec: podSpec, ...template } = spec?.template ?? {};
  const annotations = { ...metadata?.annotations };
  for (const name of [...hashes, pinnedAnnotation]) delete annotations[name];
  const { schedulerName: _schedulerName, ...rest } = podSpec ?? {};
  return { ...template, metadata: { ...metadata, annotations }, spec: rest };
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

/** Returns the annotations of an object as its client sent them. */
export function annotationsOf({ sent }: AdmissionObject): Annotations {
  return sent.metadata?.annotations ?? {};
}
