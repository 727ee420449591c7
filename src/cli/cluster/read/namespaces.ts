import { configResources } from "../../../cache/live/live-configs.ts";
import type { CompatibilitySettings } from "../../../domain/compatibility/directive.ts";
import { readNamePattern } from "../../../domain/compatibility/stakater-directives.ts";
import type { ConfigObject } from "../../../domain/config/digest.ts";
import { matchedReferences } from "../../../domain/config/tracked-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { type NamespacePolicy, type Policy, toNamespacePolicy } from "../../../domain/policy/policy.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import type { ConfigKind } from "../../../domain/references/references.ts";
import { isForbidden } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/reads.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { listAll, mapBounded } from "../requests.ts";
import { readProviderClasses, type UnreadConfig, unreadConfig } from "./configs.ts";

interface ReadNamespaces {
  readonly of: (namespace: string) => NamespacePolicy | undefined;
  /** A line for people if a read failed: the first one, because the others have the same cause. */
  readonly gaps: readonly string[];
  /** Why the other Namespaces are unknown, if only those in `names` were read; empty if `gaps` says it already. */
  readonly otherGaps: readonly string[];
}

/** Reads one Namespace, or all. If listing is forbidden, reads the Namespaces in `names` instead. Never rejects. */
export async function readNamespaces(
  client: ApiClient,
  namespace: string | undefined,
  compatibility?: CompatibilitySettings,
  names: readonly string[] = [],
): Promise<ReadNamespaces> {
  try {
    const read =
      namespace === undefined
        ? await listAll<KubeObject, KubeObject>(client, resources.namespaces, {}, (object) => object)
        : await readNamespace(client, namespace);
    const byName = new Map(read.map((object) => [object.metadata.name, toNamespacePolicy(object, compatibility)]));
    return { of: (name) => byName.get(name), gaps: [], otherGaps: [] };
  } catch (error) {
    const gaps = [`Namespace annotations are unknown and may hold workloads or opt them in: ${errorText(error)}.`];
    if (names.length === 0 || !isForbidden(error)) return { of: () => undefined, gaps, otherGaps: [] };
    const named = await mapBounded(names, (name) => readNamespaces(client, name, compatibility));
    const byName = new Map(names.map((name, index) => [name, named[index]]));
    const ownGaps = named.flatMap((each) => each.gaps).slice(0, 1);
    return { of: (name) => byName.get(name)?.of(name), gaps: ownGaps, otherGaps: ownGaps.length === 0 ? gaps : [] };
  }
}

/** Returns one Namespace in a list; the empty list if it does not exist. */
export async function readNamespace(client: ApiClient, name: string): Promise<readonly KubeObject[]> {
  const found = await getIfExists<KubeObject>(client, { path: resourcePath(resources.namespaces, { name }) });
  return found === undefined ? [] : [found];
}

/** The object names that regular expressions of workloads match, and the reads that failed. */
interface ReadNames {
  readonly namesMatching: NonNullable<Policy["namesMatching"]>;
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
export function withMatches(workload: Workload, policy: Policy): Workload {
  const { references, limitExceeded } = matchedReferences(workload, rulesFor(workload, policy));
  if (workload.peer === undefined || references === workload.references || limitExceeded !== undefined) return workload;
  return { ...workload, references, peer: { ...workload.peer, patterns: [] } };
}

/** Returns the name; undefined for Secrets of Helm releases, which Wave never caches. */
function nameOf(object: KubeObject & ConfigObject): string | undefined {
  return "type" in object && object.type === "helm.sh/release.v1" ? undefined : object.metadata.name;
}
