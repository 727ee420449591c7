import { sapConfigHash } from "../compatibility/sap.ts";
import type { CompatibilitySettings } from "../compatibility/settings.ts";
import { matchesView } from "../config/recorded-hash.ts";
import type { Workload, WorkloadObject } from "../model/workload.ts";
import type { DuePlan } from "../plan/plan.ts";
import type { Policy, PolicyFlags } from "../policy/policy.ts";
import { annotationPointer, type JsonPatch } from "../syntax/json-patch.ts";

/** The result of checking a hash that a client set on the metadata of a workload, as SAP's pod-reloader allows. */
export type Precondition =
  | { readonly state: "none" }
  /** The hash is current. The patch removes the annotation. */
  | { readonly state: "met"; readonly patch: JsonPatch }
  /** The message for the client of the request. */
  | { readonly state: "failed"; readonly message: string };

/** Checks the precondition of a request. `plan` must be made from the current configuration. */
export function preconditionOf({ peer }: Workload, plan: DuePlan, { hashKeys }: Policy): Precondition {
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
  { compatibility }: PolicyFlags,
  why: string,
): string | undefined {
  return hasPrecondition(object, compatibility) ? cannotCheck(why) : undefined;
}

function cannotCheck(why: string): string {
  return `Cannot check annotation ${sapConfigHash}: ${why}`;
}
