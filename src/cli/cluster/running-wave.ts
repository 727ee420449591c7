import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Container } from "kubernetes-types/core/v1.d.ts";
import type { KubeObject } from "../../kube/api-types.ts";
import type { ApiClient } from "../../kube/client.ts";
import { ApiError } from "../../kube/errors.ts";
import { resources } from "../../kube/resources.ts";
import { errorText } from "../../telemetry/error-text.ts";
import { type Environment, parseFlags } from "../flags/parse-flags.ts";
import { runFlags } from "../flags/run-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import { listAll } from "../list/list-all.ts";

/** A Deployment that runs `wave run`. */
export interface RunningWave {
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject & Deployment;
  readonly container: Container;
  /** The flags that it is told, by arguments and variables, as texts by their names: those that this Wave understands. */
  readonly flags: ReadonlyMap<string, string>;
  /** What `wave run` of this version refuses of its arguments; undefined: nothing. */
  readonly mistake: string | undefined;
}

/** The Deployments that run Wave, or why they could not be read. */
export type RunningWaves = readonly RunningWave[] | { readonly unread: string };

/** As the chart labels it, and as Deployments are usually labelled. */
const labelSelector = "app.kubernetes.io/name=wave";

/** Looks for Wave in all namespaces. Throws where the API server does not answer. A Wave in Go has the same label, and is not among them. */
export async function runningWaves(client: ApiClient): Promise<RunningWaves> {
  try {
    return await listAll<KubeObject & Deployment, RunningWave>(
      client,
      resources.deployments,
      { labelSelector },
      runningWave,
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { unread: errorText(error) };
  }
}

/** Those that roll workloads of a namespace, or with undefined of any. Who is scaled to zero rolls nothing. */
export function wavesFor(waves: readonly RunningWave[], namespace: string | undefined): readonly RunningWave[] {
  return waves.filter(({ flags, object }) => {
    const served = runFlags.namespaces.parse(flags.get("namespaces") ?? "");
    const serves = namespace === undefined || served === undefined || served.includes(namespace);
    return serves && object.spec?.replicas !== 0;
  });
}

/** What a Deployment runs, where that is this Wave: a container whose first argument is `run`. */
export function runningWave(object: KubeObject & Deployment): RunningWave | undefined {
  const container = object.spec?.template.spec?.containers.find(({ args }) => args?.[0] === "run");
  if (container === undefined) return undefined;
  const { namespace = "", name } = object.metadata;
  return { namespace, name, object, container, ...flagsOf(container) };
}

function flagsOf({ args = [], env = [] }: Container): Pick<RunningWave, "flags" | "mistake"> {
  const told = args.slice(1);
  const variables = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const read = flagsIn(told, variables);
  if (!(read instanceof UsageError)) return { flags: read, mistake: undefined };
  // Another version may know other flags: what is understood of them counts all the same.
  const understood = told.filter((arg) => !(flagsIn([arg], {}) instanceof UsageError));
  const flags = flagsIn(understood, {});
  return { flags: flags instanceof UsageError ? new Map() : flags, mistake: read.message };
}

function flagsIn(args: readonly string[], env: Environment): ReadonlyMap<string, string> | UsageError {
  try {
    const parsed = parseFlags(runFlags, args, env);
    return new Map(parsed.asks === "run" ? [...parsed.given].map(([name, { text }]) => [name, text]) : []);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}
