import type { Namespace } from "#kubernetes";
import type { CompatibilitySettings, OptIn } from "../compatibility/directive.ts";
import { updateOnConfigChange } from "../references/annotations.ts";
import type { ConfigKind } from "../references/references.ts";
import { equalJson } from "../syntax/json.ts";
import { selects } from "../syntax/label-selector.ts";
import { type NamespacePolicy, type Policy, readClusterHold } from "./policy.ts";
import { noPolicy, policyAnnotationsOf } from "./policy-rows.ts";

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

type Labels = Readonly<Record<string, string>> | null | undefined;

/** Reports whether `--namespace-selector` selects a Namespace with these labels. */
function selectsNamespace(settings: CompatibilitySettings | undefined, labels: Labels): boolean {
  const selector = settings?.filters?.namespaces;
  return selector === undefined || selects(selector, labels);
}

/** Reports whether a flag excludes all objects of a kind. */
export function ignoresKind(settings: CompatibilitySettings | undefined, kind: ConfigKind): boolean {
  return settings?.filters?.ignoredKinds.includes(kind) === true;
}

/** Reports whether the flags allow Wave to track a ConfigMap or Secret with these labels. */
export function selectsConfig(settings: CompatibilitySettings | undefined, kind: ConfigKind, labels: Labels): boolean {
  const selector = settings?.filters?.configs;
  return !ignoresKind(settings, kind) && (selector === undefined || selects(selector, labels));
}

/**
 * Returns why Wave rolls nothing in a namespace, as text after "is in"; undefined if Wave may roll workloads there. A Namespace that
 * is not known yet is treated as not selected. Wave plans its workloads again when its labels are known.
 */
export function ignoredReason(namespace: string, { compatibility, namespacePolicy }: Policy): string | undefined {
  const filters = compatibility?.filters;
  if (filters === undefined) return undefined;
  if (filters.ignoredNamespaces.includes(namespace))
    return `namespace "${namespace}", which --namespaces-to-ignore names`;
  if (filters.namespaces === undefined) return undefined;
  const selected = namespacePolicy !== undefined && namespacePolicy.unselected !== true;
  return selected ? undefined : `namespace "${namespace}", which --namespace-selector does not select`;
}

/**
 * Reports whether a workload is opted in now. The Namespace may have changed since the workload was read, so the function checks the
 * Namespace again.
 */
export function isOptedIn(
  { optIn, namespace }: { readonly optIn: OptIn; readonly namespace: string },
  policy: Policy,
): boolean {
  if (optIn.state !== "in" || ignoredReason(namespace, policy) !== undefined) return false;
  return optIn.by !== "namespace" || policy.namespacePolicy?.optsIn === true;
}
