import type { NamesMatching } from "../../domain/compatibility/directive.ts";
import { readNamePattern } from "../../domain/compatibility/stakater-directives.ts";
import { type ConfigName, configKey } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type ReadConfigs, readManyConfigs } from "../cluster/read/configs.ts";
import { readNames, readNamespaces, withMatches } from "../cluster/read/namespaces.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import { planObjects } from "../cluster/snapshot/live-plan.ts";
import { listPairs, pairKey, type WorkloadPair, workloadsOf } from "./list-pairs.ts";
import type { Overlay } from "./overlay.ts";

/** What plans depend on besides their workloads, without or with the manifests. */
export interface ClusterState {
  /** The keys of the configuration objects in the manifests. */
  readonly overlaid: ReadonlySet<string>;
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
}

/**
 * The objects that the manifests are compared with: all objects of a cluster, or the manifests of a base. Objects that only the cluster
 * of a base has are unknown, and the Pods of a base are assumed to be current.
 */
export type ComparedWith = "cluster" | "base";

/** The cluster without the manifests, and with them. */
export interface ClusterStates {
  readonly comparedWith: ComparedWith;
  /** All workloads of each namespace with an affected workload: others may belong to an earlier batch. */
  readonly pairs: readonly WorkloadPair[];
  /** The keys of the workloads that the manifests affect. */
  readonly affected: ReadonlySet<string>;
  readonly before: ClusterState;
  readonly after: ClusterState;
  /** Failed reads that may matter, one line each. */
  readonly gaps: readonly string[];
  /** Failed lists in the namespaces of the manifests, one line each. */
  readonly unlisted: readonly string[];
}

/** Reads what the plans of all affected workloads depend on, by lists: their number does not grow with that of the workloads. */
export async function readClusterStates(
  client: ApiClient,
  flags: KnownPolicy,
  overlay: Overlay,
  comparedWith: ComparedWith = "cluster",
): Promise<ClusterStates> {
  const own = namespacesOf(overlay);
  const namespaces = await readNamespaces(client, undefined, flags.compatibility, own);
  const namespacePolicyOf = (name: string) => overlay.namespaces.get(name) ?? namespaces.of(name);
  const policies = { before: { ...flags, namespacePolicyOf: namespaces.of }, after: { ...flags, namespacePolicyOf } };
  const reaches = reachesOthers(overlay, flags);
  const listed = await listPairs(client, flags.kinds, policies, overlay, own);
  const names = await readNames(client, listed.pairs.flatMap(workloadsOf));
  const before = { ...policies.before, namesMatching: names.namesMatching };
  const after = { ...policies.after, namesMatching: withAdded(overlay, names.namesMatching) };
  const pairs = listed.pairs.map(
    (pair): WorkloadPair => ({
      ...pair,
      before: pair.before && { ...pair.before, workload: withMatches(pair.before.workload, before) },
      after: { ...pair.after, workload: withMatches(pair.after.workload, after) },
    }),
  );
  const affected = pairs.filter(affectedBy(overlay));
  const places = new Set(affected.map(({ after: { workload } }) => workload.namespace));
  const sameNamespace = pairs.filter(({ after: { workload } }) => places.has(workload.namespace));
  const known = new Set(overlay.configs.map(configKey));
  const objects = sameNamespace.flatMap(workloadsOf).flatMap((workload) => planObjects(workload, after));
  const others = objects.filter((object) => !known.has(configKey(object)));
  const read = comparedWith === "base" ? notInBase(others) : await readManyConfigs(client, others, flags.compatibility);
  const withOverlay = (side: "before" | "after"): ReadConfigs =>
    new Map([...read, ...overlay.configs.map((each) => [configKey(each), each[side]] as const)]);
  return {
    comparedWith,
    pairs: sameNamespace,
    affected: new Set(affected.map(pairKey)),
    before: { overlaid: known, read: withOverlay("before"), policy: before },
    after: { overlaid: known, read: withOverlay("after"), policy: after },
    gaps: [
      ...overlay.gaps,
      ...namespaces.gaps,
      ...(reaches ? [...namespaces.otherGaps, ...listed.gaps] : []),
      ...names.failures,
    ],
    unlisted: listed.unlisted,
  };
}

/** Returns objects that neither the base nor the manifests have. They may exist in the cluster. */
function notInBase(objects: readonly ConfigName[]): ReadConfigs {
  return new Map(objects.map((object) => [configKey(object), { state: "unreadable", error: "not in the manifests" }]));
}

/** Selects workloads that are in the manifests, in a Namespace of the manifests, or read a changed object. */
function affectedBy({ configs, namespaces }: Overlay): (pair: WorkloadPair) => boolean {
  const changed = new Set(configs.filter(({ changes }) => changes).map(configKey));
  return (pair) =>
    pair.inManifests ||
    namespaces.has(pair.after.workload.namespace) ||
    workloadsOf(pair).some(({ references }) => references.some((reference) => changed.has(configKey(reference))));
}

/** Reports whether workloads of other namespaces may read objects that the manifests change. */
function reachesOthers({ configs }: Overlay, { crossNamespace }: KnownPolicy): boolean {
  if (crossNamespace !== "granted") return crossNamespace === "any" && configs.length > 0;
  return configs
    .flatMap(({ before, after }) => [before, after])
    .some((read) => read.state !== "absent" && (read.state !== "present" || read.config.sharedWith !== undefined));
}

function namespacesOf({ configs, workloads, namespaces }: Overlay): readonly string[] {
  const named = [...configs, ...workloads.map(({ manifest }) => manifest)].map(({ namespace }) => namespace);
  return [...new Set([...named, ...namespaces.keys()])].sort();
}

/** Returns the matches of regular expressions with the manifests: the objects that they add, without those that they remove. */
function withAdded({ configs }: Overlay, namesMatching: NamesMatching): NamesMatching {
  const isRemoved = ({ after }: Overlay["configs"][number]) => after.state === "absent";
  const added = Map.groupBy(
    configs.filter((each) => !isRemoved(each)),
    ({ kind, namespace }) => `${kind}/${namespace}`,
  );
  const removed = new Set(configs.filter(isRemoved).map(configKey));
  return (namespace, patterns) => {
    const stored = namesMatching(namespace, patterns);
    if (stored === "tooMuchWork") return stored;
    return patterns.map(({ kind, source }, index) => {
      const pattern = readNamePattern(source);
      const names = (added.get(`${kind}/${namespace}`) ?? []).map(({ name }) => name);
      const matching = pattern.state === "read" ? names.filter((name) => pattern.matches(name)) : [];
      const left = [...(stored[index] ?? [])].filter((name) => !removed.has(configKey({ kind, namespace, name })));
      return new Set([...left, ...matching]);
    });
  };
}
