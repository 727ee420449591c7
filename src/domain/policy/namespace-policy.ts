import type { Namespace } from "#kubernetes";
import type { CompatibilitySettings } from "../compatibility/settings.ts";
import { updateOnConfigChange } from "../references/annotations.ts";
import { equalJson } from "../syntax/equal-json.ts";
import { readClusterHold } from "./cluster-hold.ts";
import { selectsNamespace } from "./filters.ts";
import type { NamespacePolicy } from "./policy.ts";
import { noPolicy, policyAnnotationsOf } from "./policy-annotations.ts";

/** A Namespace in the form that the API server sends. */
export type NamespaceObject = Namespace;

/** The shared policy of a Namespace without Wave annotations, which nearly every Namespace is. */
export const emptyNamespacePolicy: NamespacePolicy = { optsIn: false, annotations: noPolicy };

/**
 * Returns what a Namespace decides for its workloads; {@link emptyNamespacePolicy} if it has no Wave annotation. Of the labels, the result
 * keeps only whether a flag selects the Namespace.
 */
export function toNamespacePolicy(
  { metadata }: Pick<NamespaceObject, "metadata">,
  compatibility?: CompatibilitySettings,
): NamespacePolicy {
  const annotations = policyAnnotationsOf(metadata?.annotations, "namespace");
  // Only "true" opts in, as on a workload. An unclear value does not.
  const optsIn = metadata?.annotations?.[updateOnConfigChange] === "true";
  const reason = readClusterHold(metadata?.annotations);
  const clusterHold = reason === undefined ? undefined : { clusterHold: reason };
  const deleting = metadata?.deletionTimestamp ? ({ deleting: true } as const) : undefined;
  if (!selectsNamespace(compatibility, metadata?.labels))
    return { optsIn, annotations, unselected: true, ...clusterHold, ...deleting };
  return optsIn || annotations !== noPolicy || clusterHold || deleting
    ? { optsIn, annotations, ...clusterHold, ...deleting }
    : emptyNamespacePolicy;
}

/** Reports whether two Namespace policies are equal. */
export function sameNamespacePolicy(a: NamespacePolicy, b: NamespacePolicy): boolean {
  return equalJson(a, b);
}
