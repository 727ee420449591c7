import { configResources } from "../../cache/live/live-configs.ts";
import { readNamePattern } from "../../domain/compatibility/name-pattern.ts";
import type { ConfigObject } from "../../domain/config/digest.ts";
import { matchedReferences } from "../../domain/config/matched-references.ts";
import type { Workload } from "../../domain/model/workload.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { ConfigKind } from "../../domain/references/references.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { mapBounded } from "./map-bounded.ts";
import { listAll } from "./list-all.ts";
import { type UnreadConfig, unreadConfig } from "./read-configs.ts";
import { readProviderClasses } from "./read-provider-classes.ts";

/** What regular expressions match in the namespaces of some workloads, and why that is not known of others. */
export interface ReadNames {
  readonly namesMatching: NonNullable<Policy["namesMatching"]>;
  readonly failures: readonly string[];
  /** Why it is not known what the regular expressions of a workload name; undefined where it is. */
  readonly unreadFor: (workload: Workload) => UnreadConfig | undefined;
}

/** Lists the names that the regular expressions of workloads may match: none where they have none. Never rejects. */
export async function readNames(client: ApiClient, workloads: readonly Workload[]): Promise<ReadNames> {
  const wanted = new Map<string, { readonly kind: ConfigKind; readonly namespace: string }>();
  for (const { namespace, foreign } of workloads) {
    for (const { kind } of foreign?.patterns ?? []) wanted.set(`${kind}/${namespace}`, { kind, namespace });
  }
  const names = new Map<string, readonly string[]>();
  const failures = new Map<string, UnreadConfig>();
  await mapBounded([...wanted], async ([id, { kind, namespace }]) => {
    try {
      names.set(id, await namesOf(client, kind, namespace));
    } catch (error) {
      const { state, error: why } = unreadConfig(error);
      failures.set(id, { state, error: `what regular expressions name is not known here: ${why}` });
    }
  });
  return {
    failures: [...failures.values()].map(({ error }) => error),
    unreadFor: ({ namespace, foreign }) =>
      foreign?.patterns.map(({ kind }) => failures.get(`${kind}/${namespace}`)).find((why) => why !== undefined),
    namesMatching: (namespace, patterns) =>
      patterns.map(({ kind, source }) => {
        const pattern = readNamePattern(source);
        const all = names.get(`${kind}/${namespace}`) ?? [];
        return pattern.state === "read" ? all.filter((name) => pattern.matches(name)) : [];
      }),
  };
}

/** Of SecretProviderClasses those that Pods mount. */
async function namesOf(client: ApiClient, kind: ConfigKind, namespace: string): Promise<readonly string[]> {
  if (kind !== "SecretProviderClass") return listAll(client, configResources[kind], { namespace }, nameOf);
  return (await readProviderClasses(client, namespace)).map(({ name }) => name);
}

/** A workload with references to what its regular expressions match, in their place; the same where it has none, or too many. */
export function withMatches(workload: Workload, policy: Pick<Policy, "namesMatching">): Workload {
  const { references, limitExceeded } = matchedReferences(workload, policy);
  if (workload.foreign === undefined || references === workload.references || limitExceeded !== undefined)
    return workload;
  return { ...workload, references, foreign: { ...workload.foreign, patterns: [] } };
}

/** Releases of Helm are no configuration of anybody, and Wave never sees them. */
function nameOf(object: KubeObject & ConfigObject): string | undefined {
  return "type" in object && object.type === "helm.sh/release.v1" ? undefined : object.metadata.name;
}
