import type { Namespace } from "kubernetes-types/core/v1.d.ts";
import type { CompatibilitySettings } from "../compatibility/settings.ts";
import { updateOnConfigChange } from "../references/annotations.ts";
import { sameJson } from "../syntax/same-json.ts";
import { selectsNamespace } from "./filters.ts";
import type { NamespacePolicy } from "./policy.ts";
import { noPolicy, policyAnnotationsOf } from "./policy-annotations.ts";

/** A Namespace as the API server sends it. */
export type NamespaceObject = Namespace;

/** What nearly every Namespace decides: nothing. */
export const decidesNothing: NamespacePolicy = { optsIn: false, annotations: noPolicy };

/**
 * What a Namespace decides for the workloads in it; {@link decidesNothing} where it has no annotation of Wave's. Of its labels
 * only whether a flag selects it is kept.
 */
export function toNamespacePolicy(
  { metadata }: Pick<NamespaceObject, "metadata">,
  compatibility?: CompatibilitySettings,
): NamespacePolicy {
  const annotations = policyAnnotationsOf(metadata?.annotations, "namespace");
  // Only "true", as on a workload: what is unclear opts nobody in.
  const optsIn = metadata?.annotations?.[updateOnConfigChange] === "true";
  const ends = metadata?.deletionTimestamp ? ({ ends: true } as const) : undefined;
  if (!selectsNamespace(compatibility, metadata?.labels)) return { optsIn, annotations, unselected: true, ...ends };
  return optsIn || annotations !== noPolicy || ends ? { optsIn, annotations, ...ends } : decidesNothing;
}

/** Whether two Namespaces decide the same. */
export function sameNamespacePolicy(a: NamespacePolicy, b: NamespacePolicy): boolean {
  return sameJson(a, b);
}
