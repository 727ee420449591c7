import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Container } from "kubernetes-types/core/v1.d.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { ApiError } from "../../kube/api/errors.ts";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type Environment, type FlagValues, parseFlags } from "../flags/parse-flags.ts";
import { runFlags } from "../flags/run-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import { listAll } from "./list-all.ts";
import { type ReadFailure, toReadFailure } from "./read-result.ts";

/** A Deployment that runs `wave run`. */
export interface RunningWave {
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject & Deployment;
  readonly container: Container;
  /** What it is told by arguments and variables, as far as this Wave understands it; else the defaults. */
  readonly values: FlagValues<typeof runFlags>;
  /** What it is told, as texts by the names of the flags. */
  readonly flags: ReadonlyMap<string, string>;
  /** What `wave run` of this version refuses of its arguments; undefined: nothing. */
  readonly mistake: string | undefined;
}

/** The Deployments that run Wave, or why they could not be read. */
export type RunningWaves = readonly RunningWave[] | ReadFailure;

/** The labels of the Deployments that may run Wave: as the chart has them, and as Deployments are usually labelled. */
export const waveSelector = "app.kubernetes.io/name=wave";

/** Looks for Wave in all namespaces. Throws where the API server does not answer. A Wave in Go has the same label, and is not among them. */
export async function readRunningWaves(client: ApiClient): Promise<RunningWaves> {
  try {
    return await listAll<KubeObject & Deployment, RunningWave>(
      client,
      resources.deployments,
      { labelSelector: waveSelector },
      toRunningWave,
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return toReadFailure("list deployments in all namespaces", error);
  }
}

/** Those that roll workloads of a namespace; with undefined, of any. One that is scaled to zero rolls nothing. */
export function wavesWatching(waves: readonly RunningWave[], namespace: string | undefined): readonly RunningWave[] {
  return waves.filter(({ values: { namespaces: served }, object }) => {
    const serves = namespace === undefined || served === undefined || served.includes(namespace);
    return serves && object.spec?.replicas !== 0;
  });
}

/** What a Deployment runs, where that is this Wave: a container whose first argument is `run`. */
export function toRunningWave(object: KubeObject & Deployment): RunningWave | undefined {
  const container = object.spec?.template.spec?.containers.find(({ args }) => args?.[0] === "run");
  if (container === undefined) return undefined;
  const { namespace = "", name } = object.metadata;
  return { namespace, name, object, container, ...flagsOf(container) };
}

type Told = Pick<RunningWave, "values" | "flags">;

function flagsOf({ args = [], env = [] }: Container): Told & Pick<RunningWave, "mistake"> {
  const told = args.slice(1);
  const variables = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const read = toldIn(told, variables);
  if (!(read instanceof UsageError)) return { ...read, mistake: undefined };
  // Another version may know other flags: what is understood of them counts all the same.
  const understood = toldIn(
    told.filter((arg) => !(toldIn([arg], {}) instanceof UsageError)),
    {},
  );
  if (understood instanceof UsageError) throw understood;
  return { ...understood, mistake: read.message };
}

function toldIn(args: readonly string[], env: Environment): Told | UsageError {
  try {
    const parsed = parseFlags(runFlags, args, env);
    if (parsed.action !== "run") return new UsageError(`it is asked for its ${parsed.action}`);
    return { values: parsed.values, flags: new Map([...parsed.given].map(([name, { text }]) => [name, text])) };
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}
