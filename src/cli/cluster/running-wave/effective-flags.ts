import { holdTexts } from "../../../domain/pacing/hold-texts.ts";
import { type ClusterHold, readClusterHold } from "../../../domain/policy/policy.ts";
import { formatList } from "../../../domain/syntax/wording.ts";
import { ApiError } from "../../../kube/api/api-failure.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/reads.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { noteLine, warningLine } from "../../command/command.ts";
import type { CommandCall } from "../../command/flag-command.ts";
import { inheritedFlags } from "../../flags/inherited-flags.ts";
import { type FlagValues, type GivenFlag, parseFlags } from "../../flags/parse-flags.ts";
import { type KnownPolicy, policyOfFlags, readPolicy } from "./known-policy.ts";
import { type RunningWave, type RunningWaves, readRunningWaves, wavePresence, wavesWatching } from "./running-wave.ts";

/**
 * Reads the policy of the running Wave for a namespace; `undefined` means all namespaces. A flag of the command wins; otherwise the
 * value comes from the Deployment of Wave. Writes a line to standard error with `--verbose` if the Deployment sets any flag, and if the
 * running flags are unknown. Without it, commands that show states write the line if these flags change a state. If Deployments cannot be read, or no Deployment runs Wave (for example because Wave runs outside the cluster), the flags of
 * the command and their defaults decide.
 */
export async function readRunningPolicy<T extends typeof inheritedFlags>(
  { client }: Cluster,
  { values, given, terminal }: CommandCall<T>,
  namespace: string | undefined,
  known?: RunningWaves,
): Promise<KnownPolicy> {
  const waves = known ?? (await readRunningWaves(client));
  const watching = "unread" in waves ? [] : wavesWatching(waves, namespace);
  const [wave, ...others] = watching;
  const warn = (line: string) => terminal.writeError(warningLine(line));
  const presence = wavePresence(waves, namespace);
  const clusterHold = await readClusterHoldOf(client, watching);
  if (clusterHold !== undefined && known === undefined)
    terminal.writeError(noteLine(holdTexts.clusterHold(clusterHold)));
  const isGiven = Object.keys(inheritedFlags).some((name) => name !== "verbose" && given.has(name));
  // A caller that has read the Deployments reports the failure itself.
  if ("unread" in waves && known === undefined && !isGiven)
    warn(
      `Cannot read the flags of the running Wave: ${waves.unread}. Using the defaults. Pass the flags of your installation, or set variables such as WAVE_WINDOW.`,
    );
  if (wave === undefined || others.length > 0) {
    if (wave !== undefined)
      warn(
        `Several Waves run: ${formatList([wave, ...others], 3, describeWave)}. Using the defaults. Pass the flags of the Wave that you mean.`,
      );
    return { ...(await readPolicy(client, values)), clusterHold, presence };
  }
  const effective = effectiveFlags(wave, given);
  const policy = { ...(await readPolicy(client, effective.values, wave.namespace)), clusterHold, presence };
  if (effective.inherited.length === 0) return policy;
  const note = `Using the flags of ${describeWave(wave)}: ${effective.inherited.join(" ")}`;
  if (!values.verbose) return { ...policy, inherited: { note, without: await policyOfFlags(values) } };
  terminal.writeError(noteLine(note));
  return policy;
}

/** The flags that a command decides by. */
interface EffectiveFlags {
  readonly values: FlagValues<typeof inheritedFlags>;
  /** The flags that come from the Deployment of Wave, as `--window=…`, without those that equal the default. */
  readonly inherited: readonly string[];
}

/** Returns the flags that the command was given, and for every other flag the value from the Deployment of Wave. */
export function effectiveFlags(
  { flags }: Pick<RunningWave, "flags">,
  given: ReadonlyMap<string, GivenFlag>,
): EffectiveFlags {
  const own: string[] = [];
  const inherited: string[] = [];
  for (const [name, row] of Object.entries(inheritedFlags)) {
    const running = flags.get(name);
    const text = given.get(name)?.text;
    if (text !== undefined) own.push(`--${name}=${text}`);
    else if (running !== undefined && row.parse(running) !== row.default) inherited.push(`--${name}=${running}`);
  }
  const parsed = parseFlags(inheritedFlags, [...own, ...inherited], {});
  if (parsed.action !== "run") throw new Error("a flag of the Deployment requests help");
  return { values: parsed.values, inherited };
}

/** Returns the Deployment of a Wave for messages: `deployment/wave in wave-system`. */
export function describeWave({ namespace, name }: Pick<RunningWave, "namespace" | "name">): string {
  return `deployment/${name} in ${namespace}`;
}

/**
 * Reads the first hold of every rollout that applies to one of these Waves; undefined if there is none, or if the user lacks permission to
 * read their Namespaces. Throws if the API server does not answer.
 */
async function readClusterHoldOf(
  client: Pick<ApiClient, "request">,
  waves: readonly Pick<RunningWave, "namespace">[],
): Promise<ClusterHold | undefined> {
  for (const namespace of new Set(waves.map((wave) => wave.namespace))) {
    const reason = readClusterHold((await readNamespace(client, namespace))?.metadata.annotations);
    if (reason !== undefined) return { namespace, reason };
  }
  return undefined;
}

async function readNamespace(client: Pick<ApiClient, "request">, name: string): Promise<KubeObject | undefined> {
  try {
    return await getIfExists<KubeObject>(client, { path: resourcePath(resources.namespaces, { name }) });
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
