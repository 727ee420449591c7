import type { CompatibilitySettings } from "../compatibility/settings.ts";
import type { ConfigKind } from "../references/references.ts";
import { selects } from "../syntax/label-selector.ts";
import type { Policy } from "./policy.ts";

type Labels = Readonly<Record<string, string>> | null | undefined;

/** Whether a Namespace with these labels is selected. */
export function selectsNamespace(settings: CompatibilitySettings | undefined, labels: Labels): boolean {
  const selector = settings?.filters?.namespaces;
  return selector === undefined || selects(selector, labels);
}

/** Whether ConfigMaps or Secrets do not count at all. */
export function ignoresKind(settings: CompatibilitySettings | undefined, kind: ConfigKind): boolean {
  return settings?.filters?.ignoredKinds.includes(kind) === true;
}

/** Whether a ConfigMap or Secret with these labels may count. */
export function selectsConfig(settings: CompatibilitySettings | undefined, kind: ConfigKind, labels: Labels): boolean {
  const selector = settings?.filters?.configs;
  return !ignoresKind(settings, kind) && (selector === undefined || selects(selector, labels));
}

/**
 * Why nothing is rolled in a namespace, to stand after "is in"; undefined where that may be. A Namespace of which nothing is
 * known yet is taken not to be selected: when its labels are known its workloads are planned again.
 */
export function whyIgnored(namespace: string, { compatibility, ofNamespace }: Policy): string | undefined {
  const filters = compatibility?.filters;
  if (filters === undefined) return undefined;
  if (filters.ignoredNamespaces.includes(namespace))
    return `namespace "${namespace}", which --namespaces-to-ignore names`;
  if (filters.namespaces === undefined) return undefined;
  const decides = ofNamespace?.(namespace);
  const selected = decides !== undefined && decides.unselected !== true;
  return selected ? undefined : `namespace "${namespace}", which --namespace-selector does not select`;
}
