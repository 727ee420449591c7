import { findKind } from "../../../cache/workloads/workload-reads.ts";
import { loadNamePatterns } from "../../../domain/compatibility/stakater-directives.ts";
import { hashFormat } from "../../../domain/config/hash.ts";
import type { WorkloadKind, WorkloadRow } from "../../../domain/model/kind-row.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import type { RequestedKind } from "../../../domain/model/kinds/requested-kind.ts";
import { holdTexts } from "../../../domain/pacing/hold-texts.ts";
import type { HashKeys } from "../../../domain/policy/hash-key.ts";
import { type ClusterHold, type Policy, readClusterHold } from "../../../domain/policy/policy.ts";
import { formatList } from "../../../domain/syntax/names.ts";
import { ApiError } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/reads.ts";
import type { SecretName } from "../../../kube/secrets/own-secret.ts";
import { hashKeySecret, readStoredKeys } from "../../../manager/hash-key/hash-key-secret.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { CommandFailure, commandErrorTexts, noteLine, warningLine } from "../../command/command.ts";
import type { CommandCall } from "../../command/help.ts";
import { compatibilitySettings, wantedKinds } from "../../flags/compatibility-flags.ts";
import { pacingSettings } from "../../flags/pacing-flags.ts";
import { type FlagValues, type GivenFlag, parseArguments } from "../../flags/parse-flags.ts";
import { inheritedFlags, ownershipOf } from "../../flags/run-flags.ts";
import { mapBounded } from "../requests.ts";
import {
  type RunningWave,
  type RunningWaves,
  readRunningWaves,
  type WavePresence,
  wavePresence,
  wavesWatching,
} from "./running-wave.ts";

/** The policy of the running Wave, as far as the user can read it. */
export interface KnownPolicy extends Policy {
  /** Where its `hashKeys` are from, or why they are not known. */
  readonly keys: ReadHashKeys;
  /** Whether Wave can act now; undefined if that was not read. */
  readonly presence?: WavePresence | undefined;
  /** The Lease of the running Wave; undefined if its verdicts are not read. */
  readonly lease?: { readonly namespace: string; readonly name: string } | undefined;
  /** The kinds of workload that Wave rolls and this cluster serves. */
  readonly kinds: readonly WorkloadRow[];
  /** The flags of the running Wave, and the policy without them; undefined if the command does not use any, or has shown them. */
  readonly inherited?: { readonly note: string; readonly without: Policy } | undefined;
}

/** The namespace in which the docs install Wave. */
const usualNamespace = "wave-system";

/** Builds the policy from flags; reads the keys of hashes and the served kinds from the cluster. `namespace`: that of the running Wave. */
export async function readPolicy(
  client: Pick<ApiClient, "request">,
  values: FlagValues<typeof inheritedFlags>,
  namespace: string = usualNamespace,
): Promise<KnownPolicy> {
  const keys = await readHashKeys(client, values["hash-key-secret"]);
  return {
    ...(await policyOfFlags(values)),
    hashKeys: keys.state === "read" ? keys.keys : undefined,
    lease: {
      namespace: values["leader-election-namespace"] ?? namespace,
      name: values["leader-election-id"],
    },
    keys,
    kinds: await availableKinds(client, wantedKinds(values) ?? []),
  };
}

/** Returns the part of the policy that does not depend on the cluster. */
export async function policyOfFlags(values: FlagValues<typeof inheritedFlags>): Promise<Policy> {
  const compatibility = compatibilitySettings(values);
  await loadNamePatterns(compatibility);
  return {
    crossNamespace: values["cross-namespace"],
    firstSight: values["first-sight"],
    namespaces: values.namespaces,
    schedulingHold: values["scheduling-hold"],
    compatibility,
    providerClasses: values["enable-csi-integration"],
    pinConfig: values["pin-config"],
    ownership: ownershipOf(values),
    pacing: pacingSettings(values),
  };
}

/** Returns the kinds that Wave rolls in this cluster: the built-in kinds, and each wanted kind that the API server serves. Throws what {@link ApiClient.request} throws. */
async function availableKinds(
  client: Pick<ApiClient, "request">,
  wanted: readonly RequestedKind[],
): Promise<readonly WorkloadRow[]> {
  const served = await mapBounded(wanted, (kind) => findKind(client, kind));
  return [...builtInKinds, ...served.flatMap((row) => row ?? [])];
}

/** Returns the object with the API resource that this cluster serves for its kind. Throws a CommandFailure if Wave does not roll this kind here. */
export function withAvailableKind<O extends { readonly kind: WorkloadKind; readonly resource: WorkloadRow }>(
  object: O,
  { kinds }: { readonly kinds: readonly WorkloadRow[] },
): O {
  const row = kinds.find(({ id }) => id === object.kind);
  if (row !== undefined) return { ...object, resource: row };
  throw new CommandFailure(commandErrorTexts.kindNotRolled(object.kind));
}

/** The keys of hashes, as far as the user may read them. */
export type ReadHashKeys =
  | { readonly state: "read"; readonly keys: HashKeys }
  /** `why` is the next step or the error, in one line. */
  | { readonly state: "not requested" | "unread"; readonly why: string };

/** Reads the keys from the Secret that `--hash-key-secret` names, if it names one. Never rejects. */
async function readHashKeys(client: Pick<ApiClient, "request">, name: SecretName | undefined): Promise<ReadHashKeys> {
  if (name === undefined) return { state: "not requested", why: "pass --hash-key-secret" };
  const secret = hashKeySecret(client, name);
  try {
    const read = await readStoredKeys(secret);
    if (read === undefined) return { state: "unread", why: `not found: ${secret.description}` };
    return { state: "read", keys: { ...read.keys, remembered: [] } };
  } catch (error) {
    return { state: "unread", why: errorText(error) };
  }
}

/** The key of a recorded hash, as `wave explain` shows it; null if there is no hash, or a hash of another algorithm. */
export type HashForm = "no key" | "current key" | "previous key" | "unknown key" | null;

/** Returns which key a recorded hash uses. */
export function hashFormOf(recorded: string | undefined, read: ReadHashKeys): HashForm {
  const form = recorded === undefined ? "foreign" : hashFormat(recorded);
  if (form === "foreign") return null;
  if (form.keyId === undefined) return "no key";
  if (read.state !== "read") return "unknown key";
  if (form.keyId === read.keys.current.id) return "current key";
  return form.keyId === read.keys.previous?.id ? "previous key" : "unknown key";
}

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
  const presence = "unread" in waves ? "unknown" : wavePresence(watching);
  const clusterHold = await readClusterHoldOf(client, watching);
  if (clusterHold !== undefined && known === undefined)
    terminal.writeError(noteLine(holdTexts.clusterHold(clusterHold)));
  const isGiven = Object.keys(inheritedFlags).some((name) => name !== "verbose" && given.has(name));
  // A caller that has read the Deployments reports the failure itself.
  if ("unread" in waves && known === undefined && !isGiven)
    warn(
      `Cannot read the flags of the running Wave: ${waves.unread}. Using the defaults. Pass the flags of your installation, or set variables such as WAVE_WINDOW.`,
    );
  if (others.length > 0)
    warn(
      `Several Waves run: ${formatList(watching, 3, describeWave)}. Using the defaults. Pass the flags of the Wave that you mean.`,
    );
  if (wave === undefined || others.length > 0) return { ...(await readPolicy(client, values)), clusterHold, presence };
  const effective = effectiveFlags(wave, given);
  const policy = { ...(await readPolicy(client, effective.values, wave.namespace)), clusterHold, presence };
  if (effective.inherited.length === 0) return policy;
  const note = `Using the flags of ${describeWave(wave)}: ${effective.inherited.join(" ")}`;
  if (!values.verbose) return { ...policy, inherited: { note, without: await policyOfFlags(values) } };
  terminal.writeError(noteLine(note));
  return policy;
}

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
  const { values } = parseArguments(inheritedFlags, [...own, ...inherited], {});
  return { values, inherited };
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
