// domain/pinning: which ConfigMaps of a workload are pinned, what their copies contain, and how Pods are pointed at them.
// Knows references, views, workloads and policy, no plan. Pure.
import type { Config } from "../config/digest.ts";
import type { ConfigView, ViewEntry } from "../config/hash.ts";
import { trackedReferences } from "../config/tracked-references.ts";
import { type Lookup, missingFrom, viewOfReferences } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import type { Reference } from "../references/references.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { isListed } from "../syntax/name-list.ts";
import { type CopyContent, copyContent } from "./copy-content.ts";

/** A ConfigMap that Pods are to read as a pinned copy. */
export interface PinSource {
  readonly namespace: string;
  readonly name: string;
  /** All tracked references to it, also those of annotations. The copy has what they read, so that the hash of the copy is the hash of its source. */
  readonly references: readonly Reference[];
  /** What the hash includes of it: sorted. Empty if it does not exist or has none of the keys. */
  readonly entries: readonly ViewEntry[];
}

/**
 * ConfigMaps that Kubernetes, a service mesh or a certificate tool fills in each namespace and replaces by itself. An old copy of a
 * certificate authority breaks connections.
 */
export const neverPinned: readonly string[] = [
  "kube-root-ca.crt",
  "openshift-service-ca.crt",
  "istio-ca-root-cert",
  "istio-ca-crl",
  "linkerd-identity-trust-roots",
];

/** Reports whether the Pods of a workload read pinned copies: the feature is on, and the workload or its Namespace asks for it. */
export function isPinned(workload: Workload, policy: Policy): boolean {
  return policy.pinConfig === true && canBePinned(workload) && rolloutPolicyOf(workload, policy).pinConfig.value;
}

/**
 * Reports whether a workload can be pinned: its hash is in its own pod template, and a change of the template replaces its Pods. The
 * Pods of a CronJob or Job end by themselves, and the next run starts with the live configuration.
 */
export function canBePinned({ strategy }: Pick<Workload, "strategy">): boolean {
  return strategy.name === "template";
}

/**
 * Returns what to pin when the hash of `view` is written; undefined if the workload is not pinned. `lookup` is the one of the plan
 * that made the view.
 */
export function pinSources(
  workload: Workload,
  view: ConfigView,
  lookup: Lookup,
  policy: Policy,
): readonly PinSource[] | undefined {
  if (!isPinned(workload, policy)) return undefined;
  const { references, lookup: granted } = trackedReferences(workload, lookup, policy);
  const canBeRead = readAsCopy(workload, granted, policy);
  const { namespace } = workload;
  const byName = Map.groupBy(
    references.filter((each) => each.kind === "ConfigMap" && each.namespace === namespace),
    ({ name }) => name,
  );
  const sources: PinSource[] = [];
  for (const [name, tracked] of byName) {
    if (tracked.every(({ annotation }) => annotation !== undefined) || !canBeRead(name)) continue;
    const entries = view.entries.filter(
      (entry) => entry.kind === "ConfigMap" && entry.name === name && entry.namespace === namespace,
    );
    sources.push({ namespace, name, references: tracked, entries });
  }
  return sources.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Returns which ConfigMaps, by name, the Pods of a pinned workload read as copies. The plan must use it, too: a hash that includes the
 * content of a copy is wrong if Pods read the live ConfigMap. A name that no object can have needs no copy.
 */
export function readAsCopy(workload: Workload, live: Lookup, policy: Policy): (name: string) => boolean {
  const { namespace } = workload;
  const { liveConfigMaps } = rolloutPolicyOf(workload, policy);
  return (name) => {
    if (!isDnsSubdomain(name) || neverPinned.includes(name)) return false;
    if (isListed(liveConfigMaps.value, { namespace, name }, namespace)) return false;
    const config = live("ConfigMap", namespace, name);
    return !config?.isCopy && !config?.isInjected;
  };
}

/**
 * Returns what the copy contains if `config` has exactly what the hash includes, and every key without which Pods cannot start; otherwise
 * undefined. The hash does not include a key that Pods only need to start. The copy of an optional ConfigMap that
 * does not exist (undefined) is empty: for an optional reference, both are the same.
 */
export function contentOf({ references, entries }: PinSource, config: Config | undefined): CopyContent | undefined {
  if (config?.limitExceeded !== undefined) return undefined;
  if (missingFrom(references, () => config).length > 0) return undefined;
  const read = viewOfReferences(references, () => config).entries;
  if (read.length !== entries.length) return undefined;
  const same = read.every(({ key, digest }, i) => entries[i]?.key === key && entries[i]?.digest === digest);
  return same ? copyContent(references, config) : undefined;
}
