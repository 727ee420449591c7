import { configResources } from "../../../cache/live/live-configs.ts";
import { readNamePattern } from "../../../domain/compatibility/name-pattern.ts";
import type { ConfigObject } from "../../../domain/config/digest.ts";
import { matchedReferences } from "../../../domain/config/matched-references.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/cluster-policy.ts";
import type { ConfigKind } from "../../../domain/references/references.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../requests/list-all.ts";
import { mapBounded } from "../requests/map-bounded.ts";
import { type UnreadConfig, unreadConfig } from "./configs.ts";
import { readProviderClasses } from "./provider-classes.ts";

/** The object names that regular expressions of workloads match, and the reads that failed. */
export interface ReadNames {
  readonly namesMatching: NonNullable<ClusterPolicy["namesMatching"]>;
  readonly failures: readonly string[];
  /** The failed read that leaves the matches of a workload unknown; undefined if they are known. */
  readonly unreadFor: (workload: Workload) => UnreadConfig | undefined;
}

/** Lists the object names that the regular expressions of workloads may match. Makes no request if there are no expressions. Never rejects. */
export async function readNames(client: ApiClient, workloads: readonly Workload[]): Promise<ReadNames> {
  const wanted = new Map<string, { readonly kind: ConfigKind; readonly namespace: string }>();
  for (const { namespace, peer } of workloads) {
    for (const { kind } of peer?.patterns ?? []) wanted.set(`${kind}/${namespace}`, { kind, namespace });
  }
  const names = new Map<string, readonly string[]>();
  const failures = new Map<string, UnreadConfig>();
  await mapBounded([...wanted], async ([id, { kind, namespace }]) => {
    try {
      names.set(id, await namesOf(client, kind, namespace));
    } catch (error) {
      const { state, error: why } = unreadConfig(error);
      failures.set(id, { state, error: `The matches of regular expressions are unknown: ${why}.` });
    }
  });
  return {
    failures: [...failures.values()].map(({ error }) => error),
    unreadFor: ({ namespace, peer }) =>
      peer?.patterns.map(({ kind }) => failures.get(`${kind}/${namespace}`)).find((why) => why !== undefined),
    namesMatching: (namespace, patterns) =>
      patterns.map(({ kind, source }) => {
        const pattern = readNamePattern(source);
        const all = names.get(`${kind}/${namespace}`) ?? [];
        return pattern.state === "read" ? all.filter((name) => pattern.matches(name)) : [];
      }),
  };
}

/** Lists the names of a kind; for SecretProviderClasses only those that Pods mount. */
async function namesOf(client: ApiClient, kind: ConfigKind, namespace: string): Promise<readonly string[]> {
  if (kind !== "SecretProviderClass") return listAll(client, configResources[kind], { namespace }, nameOf);
  return (await readProviderClasses(client, namespace)).map(({ name }) => name);
}

/** Returns the workload with its regular expressions replaced by references to the matching objects. Returns the same workload if it has no expressions or the matches exceed a limit. */
export function withMatches(workload: Workload, policy: ClusterPolicy): Workload {
  const { references, limitExceeded } = matchedReferences(workload, policyFor(workload, policy));
  if (workload.peer === undefined || references === workload.references || limitExceeded !== undefined) return workload;
  return { ...workload, references, peer: { ...workload.peer, patterns: [] } };
}

/** Returns the name; undefined for Secrets of Helm releases, which Wave never caches. */
function nameOf(object: KubeObject & ConfigObject): string | undefined {
  return "type" in object && object.type === "helm.sh/release.v1" ? undefined : object.metadata.name;
}
