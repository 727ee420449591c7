import { type CompatibilitySettings, sapConfigHash } from "../compatibility/directive.ts";
import { type ConfigView, matchesView } from "../config/hash.ts";
import { addSchedulingHold, isSchedulingHeld, liftSchedulingHold } from "../model/scheduling-hold.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { DuePlan } from "../outcomes/outcomes.ts";
import { setHash, writeHash } from "../patch/workload-patch.ts";
import type { Policy } from "../policy/policy.ts";
import { isOptedIn, type Rules } from "../policy/rules.ts";
import { annotationPointer, type JsonPatch, type JsonPatchOperation } from "../syntax/json.ts";

/**
 * "hashed": the current hash is written. "kept": the recorded hash is restored. "schedulingHeld": new Pods stay pending
 * until their configuration exists. "schedulingReleased": a scheduling hold is removed. "waiting": configuration is missing,
 * but new Pods are not held. "current": nothing changes. "ignored": Wave does not manage the workload. "denied": a
 * precondition of the request failed.
 */
export type AdmissionOutcome =
  | "hashed"
  | "kept"
  | "schedulingHeld"
  | "schedulingReleased"
  | "waiting"
  | "current"
  | "ignored"
  | "denied";

/** What a request does to the Pods of a workload. */
export interface MutatedRequest {
  readonly workload: Workload;
  readonly plan: DuePlan;
  /** Undefined if the workload is being created. */
  readonly before: Workload | undefined;
  /** Whether the request replaces no Pod, apart from what Wave writes into the template. */
  readonly keepsPods: boolean;
  /** Whether a scheduling hold can be lifted later for every Pod that the request creates. */
  readonly canBeHeld: boolean;
}

/** What is written into the object of a request. */
interface Mutation {
  readonly outcome: AdmissionOutcome;
  readonly operations: readonly JsonPatchOperation[];
  /** What new Pods of the request read; undefined if it creates none, or if their configuration is not complete. */
  readonly view?: ConfigView;
}

/** Returns what `mode: observe` writes: it only restores a removed hash. */
export function observe(request: MutatedRequest): Mutation {
  return request.plan.outcome === "ignore" ? { outcome: "ignored", operations: [] } : named("kept", keepHash(request));
}

/** Returns what a plan writes: the hash, a scheduling hold, or the hash that the request removed. */
export function mutate(request: MutatedRequest, rules: Rules): Mutation {
  const { workload, before, plan } = request;
  switch (plan.outcome) {
    case "ignore":
      return { outcome: "ignored", operations: [] };
    case "cleanUp": {
      if (plan.newPods !== undefined) return mutateComplete(request, plan.newPods);
      const kept = isOptedIn(workload, rules) ? keepHash(request) : [];
      return { outcome: "schedulingReleased", operations: [...kept, ...liftSchedulingHold(workload, before)] };
    }
    case "waiting":
      return mutateIncomplete(request, rules);
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

function mutateComplete(request: MutatedRequest, current: ConfigView): Mutation {
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

function mutateIncomplete(request: MutatedRequest, rules: Rules): Mutation {
  const { workload, before, keepsPods } = request;
  const held = before !== undefined && isSchedulingHeld(before);
  const hash = keepHash(request);
  const mayBeHeld = held || (!keepsPods && rules.isStopping !== true);
  if (rules.schedulingHold && request.canBeHeld && mayBeHeld) {
    return { outcome: "schedulingHeld", operations: [...hash, ...addSchedulingHold(workload, before)] };
  }
  // The request would hold running Pods, for example `kubectl rollout undo` to a template with a scheduling hold.
  if (isSchedulingHeld(workload))
    return { outcome: "schedulingReleased", operations: [...hash, ...liftSchedulingHold(workload, before)] };
  return { outcome: "waiting", operations: hash };
}

/** Restores the recorded hash if it stays. */
function keepHash(request: MutatedRequest): readonly JsonPatchOperation[] {
  const { workload, before } = request;
  if (before?.recordedHash === undefined || !staysRecorded(request)) return [];
  return setHash(workload, before.recordedHash, before.hashAnnotation);
}

/**
 * Reports whether the recorded hash and pins stay: the request removed the hash, or changed it and nothing else in the template. New Pods
 * that read nothing need no hash, and the recorded one would not be theirs.
 */
export function staysRecorded({ workload, before, keepsPods, plan }: MutatedRequest): boolean {
  if (before?.recordedHash === undefined) return false;
  return keepsPods || (workload.recordedHash === undefined && plan.outcome !== "current");
}

function named(outcome: AdmissionOutcome, operations: readonly JsonPatchOperation[]): Mutation {
  return { outcome: operations.length > 0 ? outcome : "current", operations };
}

/** The result of checking a hash that a client set on the metadata of a workload, as SAP's pod-reloader allows. */
type Precondition =
  | { readonly state: "none" }
  /** The hash is current. The patch removes the annotation. */
  | { readonly state: "met"; readonly patch: JsonPatch }
  /** The message for the client of the request. */
  | { readonly state: "failed"; readonly message: string };

/** Checks the precondition of a request. `plan` must be made from the current configuration. */
export function preconditionOf({ peer }: Workload, plan: DuePlan, { hashKeys }: Rules): Precondition {
  const value = peer?.precondition;
  if (value === undefined || !peer?.compatibility.includes("sap")) return { state: "none" };
  if (!("view" in plan)) return { state: "failed", message: cannotCheck(plan.reason) };
  if (!matchesView(value, plan.view, hashKeys)) {
    const message = `Annotation ${sapConfigHash} is not the hash of the current configuration. Read the configuration again, or omit the annotation.`;
    return { state: "failed", message };
  }
  return { state: "met", patch: [{ op: "remove", path: annotationPointer(sapConfigHash) }] };
}

/** Reports whether a client set such a hash and compatibility with SAP is enabled. */
export function hasPrecondition(
  { metadata }: WorkloadObject,
  compatibility: CompatibilitySettings | undefined,
): boolean {
  return compatibility?.understood.includes("sap") === true && metadata?.annotations?.[sapConfigHash] !== undefined;
}

/** Returns why a request is denied if its configuration could not be read; undefined without a precondition. */
export function uncheckedPrecondition(
  object: WorkloadObject,
  { compatibility }: Policy,
  why: string,
): string | undefined {
  return hasPrecondition(object, compatibility) ? cannotCheck(why) : undefined;
}

function cannotCheck(why: string): string {
  return `Cannot check annotation ${sapConfigHash}: ${why}`;
}
