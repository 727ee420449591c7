import type { Workload } from "../model/workload.ts";
import { ignoresKind } from "../policy/filters.ts";
import type { Policy } from "../policy/policy.ts";
import { type RolloutPolicy, rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { isListed } from "../syntax/name-list.ts";
import { type Granted, grantedReferences } from "./cross-namespace.ts";
import type { Lookup } from "./view.ts";

/**
 * Everybody is to ignore it, the workload excludes it, it is not marked and the workload searches for what is, or flags leave
 * it out.
 */
export type LeftOut = "ignored" | "excluded" | "unmarked" | "unselected";

/** The references of a workload whose objects count for its hash. */
export interface Counted extends Granted {
  /** Those that count. */
  readonly references: readonly Reference[];
  /** Those and the ones that do not, but would. */
  readonly all: readonly Reference[];
  /** Why an object does not count, by its key. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
}

/**
 * The references that are granted, but for those to what its owner has everybody ignore and to what the workload
 * excludes. These are neither waited for nor rolled for: it is as if nobody read them.
 */
export function countedReferences(workload: Workload, lookup: Lookup, policy: Policy): Counted {
  const granted = grantedReferences(workload, lookup, policy);
  const isExcluded = excludedBy(workload, policy);
  const leftOut = new Map<string, LeftOut>();
  for (const reference of granted.references) {
    const { kind, namespace, name } = reference;
    if (isExcluded?.(reference)) leftOut.set(configKey(reference), "excluded");
    else if (ignoresKind(policy.compatibility, kind)) leftOut.set(configKey(reference), "unselected");
    else {
      const config = granted.lookup(kind, namespace, name);
      if (config?.asks === "ignore") leftOut.set(configKey(reference), "ignored");
      else if (config?.asks === "unselected") leftOut.set(configKey(reference), "unselected");
      else if (reference.ifMarked && !config?.matches) leftOut.set(configKey(reference), "unmarked");
    }
  }
  const all = granted.references;
  const references = leftOut.size === 0 ? all : all.filter((reference) => !leftOut.has(configKey(reference)));
  return { ...granted, references, all, leftOut };
}

/** Undefined for the many that exclude nothing. */
function excludedBy(workload: Workload, policy: Policy): ((reference: Reference) => boolean) | undefined {
  const says = (name: "exclude-configmaps" | "exclude-secrets") =>
    workload.policy[name] !== undefined || policy.ofNamespace?.(workload.namespace)?.annotations[name] !== undefined;
  if (!says("exclude-configmaps") && !says("exclude-secrets")) return undefined;
  const rules = rolloutPolicyOf(workload, policy);
  return (reference) => isExcluded(workload, rules, reference);
}

/** Whether an object does not count for a workload, because of what the workload or its Namespace excludes. */
export function isExcluded(
  { namespace }: Pick<Workload, "namespace">,
  { excludeConfigMaps, excludeSecrets }: Pick<RolloutPolicy, "excludeConfigMaps" | "excludeSecrets">,
  object: ConfigName,
): boolean {
  return isListed((object.kind === "ConfigMap" ? excludeConfigMaps : excludeSecrets).value, object, namespace);
}
