import type { Workload } from "../model/workload.ts";
import { ignoresKind } from "../policy/filters.ts";
import type { Policy } from "../policy/policy.ts";
import { type RolloutPolicy, rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { isListed } from "../syntax/name-list.ts";
import { type GrantedReferences, grantedReferences } from "./cross-namespace.ts";
import type { Lookup } from "./view-of-references.ts";

/**
 * Why an object is not tracked. "ignored": its annotation says so. "excluded": the workload or its Namespace excludes it.
 * "unmarked": the workload reads only marked objects. "unselected": flags exclude it. "copy": Wave stored it as a pinned copy.
 */
export type UntrackedReason = "ignored" | "excluded" | "unmarked" | "unselected" | "copy";

/** The references of a workload whose objects are part of its hash. */
export interface TrackedReferences extends GrantedReferences {
  /** The tracked references. */
  readonly references: readonly Reference[];
  /** Tracked and untracked references. */
  readonly all: readonly Reference[];
  /** Why objects are not tracked, by the key of the object. */
  readonly untracked: ReadonlyMap<string, UntrackedReason>;
}

/**
 * Returns the granted references without ignored, excluded, unmarked and unselected objects. Untracked objects cause neither
 * waiting nor rollouts: the workload is treated as if it did not read them.
 */
export function trackedReferences(workload: Workload, lookup: Lookup, policy: Policy): TrackedReferences {
  const granted = grantedReferences(workload, lookup, policy);
  const isExcluded = excludedBy(workload, policy);
  const untracked = new Map<string, UntrackedReason>();
  for (const reference of granted.references) {
    const { kind, namespace, name } = reference;
    if (isExcluded?.(reference)) untracked.set(configKey(reference), "excluded");
    else if (ignoresKind(policy.compatibility, kind)) untracked.set(configKey(reference), "unselected");
    else {
      const config = granted.lookup(kind, namespace, name);
      if (config?.isCopy) untracked.set(configKey(reference), "copy");
      else if (config?.directive === "ignore") untracked.set(configKey(reference), "ignored");
      else if (config?.directive === "unselected") untracked.set(configKey(reference), "unselected");
      else if (reference.requiresMark && !config?.isMarked) untracked.set(configKey(reference), "unmarked");
    }
  }
  const all = granted.references;
  const references = untracked.size === 0 ? all : all.filter((reference) => !untracked.has(configKey(reference)));
  return { ...granted, references, all, untracked };
}

/** Returns undefined if the workload excludes nothing, as most do. */
function excludedBy(workload: Workload, policy: Policy): ((reference: Reference) => boolean) | undefined {
  const isSet = (name: "exclude-configmaps" | "exclude-secrets") =>
    workload.policy[name] !== undefined || policy.namespacePolicy?.annotations[name] !== undefined;
  if (!isSet("exclude-configmaps") && !isSet("exclude-secrets")) return undefined;
  const rules = rolloutPolicyOf(workload, policy);
  return (reference) => isExcluded(workload, rules, reference);
}

/** Reports whether the workload or its Namespace excludes an object. */
export function isExcluded(
  { namespace }: Pick<Workload, "namespace">,
  { excludeConfigMaps, excludeSecrets }: Pick<RolloutPolicy, "excludeConfigMaps" | "excludeSecrets">,
  object: ConfigName,
): boolean {
  return isListed((object.kind === "ConfigMap" ? excludeConfigMaps : excludeSecrets).value, object, namespace);
}
