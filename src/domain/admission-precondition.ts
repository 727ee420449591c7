import { sapConfigHash } from "./compatibility/sap.ts";
import type { CompatibilitySettings } from "./compatibility/settings.ts";
import { standsFor } from "./config/recorded.ts";
import type { Workload, WorkloadObject } from "./model/workload.ts";
import type { DuePlan } from "./plan/plan.ts";
import type { Policy } from "./policy/policy.ts";
import { annotationPath, type JsonPatch } from "./syntax/json-patch.ts";

/** What comes of a hash that a client set on the metadata of a workload, as SAP's pod-reloader lets it. */
export type Precondition =
  | { readonly state: "none" }
  /** It is the hash of this moment; the patch takes it off. */
  | { readonly state: "met"; readonly patch: JsonPatch }
  /** One line for the person who made the request. */
  | { readonly state: "failed"; readonly message: string };

/** What comes of it where `plan` is made of the configuration as it is at this moment. */
export function preconditionOf({ foreign }: Workload, plan: DuePlan, { hashKeys }: Policy): Precondition {
  const value = foreign?.annotations[sapConfigHash];
  if (value === undefined || !foreign?.compatibility.includes("sap")) return { state: "none" };
  if (!("view" in plan)) return { state: "failed", message: `${cannot}: ${plan.reason}` };
  if (!standsFor(value, plan.view, hashKeys)) {
    const message = `annotation ${sapConfigHash}: it is not the hash of what the workload reads at this moment; read that again, or leave the annotation out`;
    return { state: "failed", message };
  }
  return { state: "met", patch: [{ op: "remove", path: `/metadata/annotations/${annotationPath(sapConfigHash)}` }] };
}

/** Whether a client set such a hash, where that is understood. */
export function hasPrecondition(
  { metadata }: WorkloadObject,
  compatibility: CompatibilitySettings | undefined,
): boolean {
  return compatibility?.understood.includes("sap") === true && metadata?.annotations?.[sapConfigHash] !== undefined;
}

/** Why a request is denied where nobody could look at what its workload reads; undefined where nothing hangs on that. */
export function uncheckedPrecondition(
  object: WorkloadObject,
  { compatibility }: Policy,
  why: string,
): string | undefined {
  return hasPrecondition(object, compatibility) ? `${cannot}: ${why}` : undefined;
}

const cannot = `annotation ${sapConfigHash} cannot be checked`;
