// This folder reads what the running Wave decides by: its flags, kinds and hash keys. It knows no workload.
import type { Container, Deployment } from "#kubernetes";
import { ApiError, isFromApiServer } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { UsageError } from "../../flags/flag-types.ts";
import { type Environment, type FlagValues, parseArguments } from "../../flags/parse-flags.ts";
import { runFlags } from "../../flags/run-flags.ts";
import { listAll, type ReadFailure, toReadFailure } from "../requests.ts";

/** A Deployment whose container runs `wave run`. */
export interface RunningWave {
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject & Deployment;
  readonly container: Container;
  /** The values of its flags from arguments and variables; unknown flags are ignored, absent flags have their defaults. */
  readonly values: FlagValues<typeof runFlags>;
  /** The flags that are set, as texts by flag name. */
  readonly flags: ReadonlyMap<string, string>;
  /** The error of this version for the arguments; undefined if they are valid. */
  readonly mistake: string | undefined;
}

/** The Deployments that run Wave, or the cause of a failed read. */
export type RunningWaves = readonly RunningWave[] | ReadFailure;

/** The label selector of Deployments that may run Wave, as the chart sets it. */
export const waveSelector = "app.kubernetes.io/name=wave";

/** Lists the Deployments of Wave in all namespaces. A Wave in Go has the same label and is left out. Throws if the API server does not answer. */
export async function readRunningWaves(client: ApiClient): Promise<RunningWaves> {
  try {
    return await listAll<KubeObject & Deployment, RunningWave>(
      client,
      resources.deployments,
      { labelSelector: waveSelector },
      toRunningWave,
    );
  } catch (error) {
    if (!(error instanceof ApiError && isFromApiServer(error))) throw error;
    return toReadFailure("list deployments in all namespaces", error);
  }
}

/** Returns the Waves that watch a namespace; `undefined` means any namespace. A Wave that is scaled to zero is left out. */
export function wavesWatching(waves: readonly RunningWave[], namespace: string | undefined): readonly RunningWave[] {
  return waves.filter(({ values: { namespaces: watched }, object }) => {
    const watches = namespace === undefined || watched === undefined || watched.includes(namespace);
    return watches && object.spec?.replicas !== 0;
  });
}

/** Returns the Wave that a Deployment runs: a container whose first argument is `run`. Returns undefined for any other Deployment. */
export function toRunningWave(object: KubeObject & Deployment): RunningWave | undefined {
  const container = object.spec?.template.spec?.containers.find(({ args }) => args?.[0] === "run");
  if (container === undefined) return undefined;
  const { namespace = "", name } = object.metadata;
  return { namespace, name, object, container, ...flagsOf(container) };
}

type ParsedFlags = Pick<RunningWave, "values" | "flags">;

function flagsOf({ args = [], env = [] }: Container): ParsedFlags & Pick<RunningWave, "mistake"> {
  const runArgs = args.slice(1);
  const variables = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const read = parsed(runArgs, variables);
  if (!(read instanceof UsageError)) return { ...read, mistake: undefined };
  // Another version may have other flags: the known ones still apply.
  const understood = parsed(
    runArgs.filter((arg) => !(parsed([arg], {}) instanceof UsageError)),
    {},
  );
  if (understood instanceof UsageError) throw understood;
  return { ...understood, mistake: read.message };
}

function parsed(args: readonly string[], env: Environment): ParsedFlags | UsageError {
  try {
    const { values, given } = parseArguments(runFlags, args, env);
    return { values, flags: new Map([...given].map(([name, { text }]) => [name, text])) };
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

/** Whether a Wave can act now. "unknown": its Deployment may not be read. */
export type WavePresence = "ready" | "notReady" | "none" | "unknown";

/** Returns whether one of the Waves that watch a namespace can act now. */
export function wavePresence(watching: readonly RunningWave[]): WavePresence {
  if (watching.length === 0) return "none";
  return watching.some(hasReadyReplica) ? "ready" : "notReady";
}

/** Reports whether a replica of a Wave is ready. */
export function hasReadyReplica({ object: { status } }: RunningWave): boolean {
  return (status?.readyReplicas ?? 0) > 0;
}

/** What follows for a rollout that is due, for people. A Wave outside the cluster has no Deployment. */
export const wavePresenceTexts = {
  notReady: "No replica of Wave is ready. The rollout starts when Wave runs again: see wave doctor.",
  none: "No Deployment in this cluster runs Wave for the namespace. The rollout starts when Wave runs.",
} as const;

/** Returns a text about rollouts that start now, or about what is due and why it does not start. */
export function startsNow(presence: WavePresence | undefined, now: string, due: string): string {
  if (presence === "none" || presence === "notReady") return `${due} ${wavePresenceTexts[presence]}`;
  return now;
}
