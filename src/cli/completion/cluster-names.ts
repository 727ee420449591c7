import type { Deployment } from "#kubernetes";
import { parseRequestedKind } from "../../domain/model/kinds/requested-kind.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../../kube/api/api-failure.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { findResource } from "../../kube/reads/reads.ts";
import { systemClock } from "../../lib/clock.ts";
import { effectiveFlags } from "../cluster/running-wave/known-policy.ts";
import { toRunningWave, waveSelector, wavesWatching } from "../cluster/running-wave/running-wave.ts";
import { loadCluster, withCluster } from "../command/cluster-command.ts";
import type { ArgumentKind, Terminal } from "../command/command.ts";
import { wantedKinds } from "../flags/compatibility-flags.ts";
import { chosenCluster, connectionFlags, namespaceFlag } from "../flags/connection-flags.ts";
import { type CompletedNames, UsageError } from "../flags/flag-types.ts";
import { type FlagTable, type GivenFlag, parseArguments } from "../flags/parse-flags.ts";

/** A person waits for the completion, so names and time are limited. */
const [mostNames, mostMs] = [500, 2_000];
/** The limit for additional kinds, which only extend an offer that needs no cluster. In milliseconds. */
const kindsMs = 500;

/** The part of a command line that selects cluster and namespace. */
export interface CommandLine {
  readonly flags: FlagTable;
  /** The words before the word to complete. */
  readonly words: readonly string[];
}

/** The cluster and namespace that a line selects, with a client that keeps to the time limit. */
interface CompletionCluster {
  readonly client: Pick<ApiClient, "request">;
  readonly namespace: string;
  readonly given: ReadonlyMap<string, GivenFlag>;
}

/** Lists names in the cluster or the kubeconfig that the line selects. Returns an empty list if the line or the cluster is wrong. */
export async function namesOf(
  of: ArgumentKind<string> | CompletedNames,
  line: CommandLine,
  terminal: Terminal,
): Promise<readonly string[]> {
  if (of === "contexts") return contextNames(line, terminal);
  return askCluster(line, terminal, mostMs, async ({ client, namespace }) => {
    const resource = of === "namespaces" ? resources.namespaces : await servedAs(client, of);
    if (resource === undefined) return [];
    const path = resourcePath(resource, resource.namespaced ? { namespace } : {});
    const query = { limit: String(mostNames) };
    const { items } = await client.request<{ items: readonly KubeObject[] }>({ method: "GET", path, query });
    return items.map(({ metadata }) => metadata.name);
  });
}

/** Returns the additional kinds of the Wave that watches the namespace; none if the line or the cluster is wrong. */
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

/** Returns the contexts of the kubeconfig that the line selects, without a request. */
async function contextNames({ flags, words }: CommandLine, { env, homeDir }: Terminal): Promise<readonly string[]> {
  return withoutMistakes(async () => {
    const { values } = parseArguments({ ...flags, ...connectionFlags }, words, env);
    const { loadContextNames } = await import("../../kube/config/cluster-config.ts");
    return loadContextNames({ kubeconfigFlag: values.kubeconfig ?? "", env, homeDir });
  });
}

/** Returns the resource of a kind. The served version of a custom resource comes from the API server. */
async function servedAs(
  client: CompletionCluster["client"],
  { kind, resource }: ArgumentKind<string>,
): Promise<Resource | undefined> {
  const wanted = parseRequestedKind(kind);
  const found = wanted === undefined ? undefined : await findResource(client, wanted);
  return wanted === undefined ? resource : found && { ...found, plural: wanted.plural };
}

/** Runs `ask` with a time limit. Returns an empty list for any error of the cluster or the line. */
async function askCluster(
  { flags, words }: CommandLine,
  terminal: Terminal,
  ms: number,
  ask: (cluster: CompletionCluster) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const until = systemClock.monotonic() + ms;
  return withoutMistakes(async () => {
    const table = { ...flags, ...connectionFlags, namespace: namespaceFlag };
    const { values, given } = parseArguments(table, words, terminal.env);
    const config = await loadCluster(chosenCluster(values), terminal);
    return withCluster("complete", config, async ({ client, namespace }) => {
      const hurried: CompletionCluster["client"] = {
        request: (request) => client.request({ ...request, timeoutMs: Math.max(1, until - systemClock.monotonic()) }),
      };
      return ask({ client: hurried, namespace: values.namespace ?? namespace, given });
    });
  });
}

/** Returns the names, or an empty list for any error of the cluster, the kubeconfig or the line. */
async function withoutMistakes(names: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await names();
  } catch (error) {
    if (![ApiError, ConnectionError, ClusterConfigError, UsageError].some((known) => error instanceof known))
      throw error;
    return [];
  }
}
