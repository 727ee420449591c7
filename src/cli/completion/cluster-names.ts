import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import { readWantedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../../kube/api/errors.ts";
import { type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { findResource } from "../../kube/reads/discovery.ts";
import { systemClock } from "../../lib/clock.ts";
import { clusterConfigOf, withCluster, connectionFlags } from "../cluster/cluster-command.ts";
import { effectiveFlags } from "../cluster/effective-flags.ts";
import { toRunningWave, waveSelector, wavesWatching } from "../cluster/running-wave.ts";
import type { Terminal } from "../command/command.ts";
import type { ArgumentKind } from "../command/workload-argument.ts";
import { wantedKinds } from "../flags/kind-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { type GivenFlag, parseFlags } from "../flags/parse-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import type { NameQuery, CommandLine } from "./candidates.ts";

/** A person waits: of more names than these the first are offered, and none of a cluster that takes longer. */
const [mostNames, mostMs] = [500, 2_000];
/** What the Wave that runs was told comes beside what is there without a cluster: for that nobody waits as long. */
const kindsMs = 500;

/** The cluster and namespace that a line means, for some time. */
interface Place {
  readonly client: Pick<ApiClient, "request">;
  readonly namespace: string;
  readonly given: ReadonlyMap<string, GivenFlag>;
}

/** The names of what there is in the cluster that the words of a line mean. Never rejects for what may be wrong there. */
export function namesOf({ of, ...line }: NameQuery, terminal: Terminal): Promise<readonly string[]> {
  return askCluster(line, terminal, mostMs, async ({ client, namespace }) => {
    const resource = of === "namespaces" ? resources.namespaces : await servedAs(client, of);
    if (resource === undefined) return [];
    const path = resourcePath(resource, resource.namespaced ? { namespace } : {});
    const query = { limit: String(mostNames) };
    const { items } = await client.request<{ items: readonly KubeObject[] }>({ method: "GET", path, query });
    return items.map(({ metadata }) => metadata.name);
  });
}

/**
 * The kinds that the Wave that serves the namespace rolls besides the built-in ones, as its Deployment or the line says. Never rejects
 * likewise.
 */
export function otherKinds(line: CommandLine, terminal: Terminal): Promise<readonly string[]> {
  return askCluster(line, terminal, kindsMs, async ({ client, namespace, given }) => {
    const path = resourcePath(resources.deployments);
    const query = { labelSelector: waveSelector, limit: String(mostNames) };
    const { items } = await client.request<{ items: readonly (KubeObject & Deployment)[] }>({
      method: "GET",
      path,
      query,
    });
    const waves = wavesWatching(
      items.flatMap((each) => toRunningWave(each) ?? []),
      namespace,
    );
    const wanted = waves.flatMap((wave) => wantedKinds(effectiveFlags(wave, given).values) ?? []);
    return [...new Set(wanted.map(({ id }) => id))];
  });
}

/** The resource of a kind as the API server has it: of custom ones nobody knows the version before. */
async function servedAs(client: Place["client"], { kind, resource }: ArgumentKind<string>): Promise<Resource | undefined> {
  const wanted = readWantedKind(kind);
  const found = wanted === undefined ? undefined : await findResource(client, wanted);
  return wanted === undefined ? resource : found && { ...found, plural: wanted.plural };
}

/** What a cluster answers in a time, or nothing where anything is wrong with it or with the line. */
async function askCluster(
  { flags, words }: CommandLine,
  terminal: Terminal,
  ms: number,
  ask: (place: Place) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const until = systemClock.monotonic() + ms;
  try {
    const parsed = parseFlags({ ...flags, ...connectionFlags, namespace: namespaceFlag }, words, terminal.env);
    if (parsed.action !== "run") return [];
    const { values, given } = parsed;
    const config = await clusterConfigOf(values, terminal);
    let answer: readonly string[] = [];
    await withCluster("complete", config, async ({ client, namespace }) => {
      const hurried: Place["client"] = {
        request: (request) => client.request({ ...request, timeoutMs: Math.max(1, until - systemClock.monotonic()) }),
      };
      answer = await ask({ client: hurried, namespace: values.namespace ?? namespace, given });
      return 0;
    });
    return answer;
  } catch (error) {
    if (![ApiError, ConnectionError, ClusterConfigError, UsageError].some((known) => error instanceof known))
      throw error;
    return [];
  }
}
