import type { KubeObject } from "../../kube/api-types.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../../kube/errors.ts";
import { resourcePath, resources } from "../../kube/resources.ts";
import { configured, connected, connectionFlags } from "../cluster-command.ts";
import type { Terminal } from "../command.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { parseFlags } from "../flags/parse-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import type { Asked } from "./candidates.ts";

/** A person waits: of more names than these the first are offered, and none of a cluster that takes longer. */
const [mostNames, mostMs] = [500, 2_000];

/** The names of what there is in the cluster that the words of a line mean. Never rejects for what may be wrong there. */
export async function namesOf({ of, flags, words }: Asked, terminal: Terminal): Promise<readonly string[]> {
  try {
    const parsed = parseFlags({ ...flags, ...connectionFlags, namespace: namespaceFlag }, words, terminal.env);
    if (parsed.asks !== "run") return [];
    const { values } = parsed;
    const config = await configured(values, terminal);
    let names: readonly string[] = [];
    await connected("complete", config, async ({ client, namespace }) => {
      const resource = of === "namespaces" ? resources.namespaces : of.resource;
      const scope = resource.namespaced ? { namespace: values.namespace ?? namespace } : {};
      const { items } = await client.request<{ items: readonly KubeObject[] }>({
        method: "GET",
        path: resourcePath(resource, scope),
        query: { limit: String(mostNames) },
        timeoutMs: mostMs,
      });
      names = items.map(({ metadata }) => metadata.name);
      return 0;
    });
    return names;
  } catch (error) {
    if (![ApiError, ConnectionError, ClusterConfigError, UsageError].some((known) => error instanceof known))
      throw error;
    return [];
  }
}
