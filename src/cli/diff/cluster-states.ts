import { readNamePattern } from "../../domain/compatibility/name-pattern.ts";
import type { NamesMatching } from "../../domain/compatibility/settings.ts";
import { objectsToRead } from "../../domain/config/cross-namespace.ts";
import { configKey } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type KnownPolicy, policyOf } from "../cluster/inherited-flags.ts";
import { type ReadConfigs, readManyConfigs } from "../cluster/read-configs.ts";
import { readNames, withMatches } from "../cluster/read-names.ts";
import { gapsOf, readNamespaces } from "../cluster/read-namespaces.ts";
import { pairKey, listPairs, type WorkloadPair, workloadsOf } from "./list-pairs.ts";
import type { Overlay } from "./overlay.ts";

/** What plans hang on besides their workloads, as it is or as it would be. */
export interface ClusterState {
  /** The keys of the objects that the manifests have. */
  readonly overlaid: ReadonlySet<string>;
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
}

/** The cluster as it is, and as it would be after the manifests were applied. */
export interface ClusterStates {
  /** Every workload of each namespace in which one is concerned: others may go first. */
  readonly pairs: readonly WorkloadPair[];
  /** The keys of those that the manifests concern. */
  readonly concerned: ReadonlySet<string>;
  readonly before: ClusterState;
  readonly after: ClusterState;
  /** What could not be read and may matter, a line each. */
  readonly gaps: readonly string[];
  /** What may not be listed where the manifests are, a line each. */
  readonly unlisted: readonly string[];
}

/**
 * Reads what the plans of all workloads hang on that the manifests concern, in every namespace: in lists alone, however many they
 * are.
 */
export async function readClusterStates(client: ApiClient, told: KnownPolicy, overlay: Overlay): Promise<ClusterStates> {
  const own = namespacesOf(overlay);
  const namespaces = await readNamespaces(client, undefined, told.compatibility, own);
  const ofNamespace = (name: string) => overlay.namespaces.get(name) ?? namespaces.of(name);
  const asking = { before: { ...told, ofNamespace: namespaces.of }, after: { ...told, ofNamespace } };
  const reaches = reachesOthers(overlay, told);
  const listed = await listPairs(client, told.kinds, asking, overlay, own);
  const names = await readNames(client, listed.pairs.flatMap(workloadsOf));
  const before = { ...asking.before, namesMatching: names.namesMatching };
  const after = { ...asking.after, namesMatching: withAdded(overlay, names.namesMatching) };
  const pairs = listed.pairs.map(
    (pair): WorkloadPair => ({
      ...pair,
      before: pair.before && { ...pair.before, workload: withMatches(pair.before.workload, before) },
      after: { ...pair.after, workload: withMatches(pair.after.workload, after) },
    }),
  );
  const concerned = pairs.filter(concernedBy(overlay));
  const places = new Set(concerned.map(({ after: { workload } }) => workload.namespace));
  const beside = pairs.filter(({ after: { workload } }) => places.has(workload.namespace));
  const known = new Set(overlay.configs.map(({ key }) => key));
  const objects = beside.flatMap(workloadsOf).flatMap((workload) => objectsToRead(workload, policyOf(after)));
  const others = objects.filter((object) => !known.has(configKey(object)));
  const read = await readManyConfigs(client, others, told.compatibility);
  const withOverlay = (side: "before" | "after"): ReadConfigs =>
    new Map([...read, ...overlay.configs.map((each) => [each.key, each[side]] as const)]);
  return {
    pairs: beside,
    concerned: new Set(concerned.map(pairKey)),
    before: { overlaid: known, read: withOverlay("before"), policy: before },
    after: { overlaid: known, read: withOverlay("after"), policy: after },
    gaps: [...overlay.gaps, ...gapsOf(namespaces, reaches), ...(reaches ? listed.gaps : []), ...names.failures],
    unlisted: listed.unlisted,
  };
}

/** What is in the manifests, in a Namespace of the manifests, or reads what they change. */
function concernedBy({ configs, namespaces }: Overlay): (pair: WorkloadPair) => boolean {
  const changed = new Set(configs.filter(({ changes }) => changes).map(({ key }) => key));
  return (pair) =>
    pair.isWanted ||
    namespaces.has(pair.after.workload.namespace) ||
    workloadsOf(pair).some(({ references }) => references.some((reference) => changed.has(configKey(reference))));
}

/** Whether anybody in another namespace than those of the manifests may read what they change. */
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

/** What regular expressions name when the objects of the manifests are there, too. */
function withAdded({ configs }: Overlay, namesMatching: NamesMatching): NamesMatching {
  const added = Map.groupBy(configs, ({ kind, namespace }) => `${kind}/${namespace}`);
  return (namespace, patterns) => {
    const stored = namesMatching(namespace, patterns);
    return patterns.map(({ kind, source }, index) => {
      const pattern = readNamePattern(source);
      const names = (added.get(`${kind}/${namespace}`) ?? []).map(({ name }) => name);
      const matching = pattern.state === "read" ? names.filter((name) => pattern.matches(name)) : [];
      return new Set([...(stored?.[index] ?? []), ...matching]);
    });
  };
}
