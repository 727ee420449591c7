import type { CompatibilitySettings } from "../compatibility/settings.ts";
import type { ConfigKind } from "../references/references.ts";
import { selects } from "../syntax/label-selector.ts";
import type { Policy } from "./policy.ts";

type Labels = Readonly<Record<string, string>> | null | undefined;

/** Reports whether `--namespace-selector` selects a Namespace with these labels. */
export function selectsNamespace(settings: CompatibilitySettings | undefined, labels: Labels): boolean {
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
