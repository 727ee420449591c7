import { findKind } from "../../../cache/workloads/find-kind.ts";
import { loadNamePatterns } from "../../../domain/compatibility/name-pattern.ts";
import { hashFormat } from "../../../domain/config/hash.ts";
import type { WorkloadKind, WorkloadRow } from "../../../domain/model/kind-row.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import type { RequestedKind } from "../../../domain/model/kinds/requested-kind.ts";
import type { HashKeys } from "../../../domain/policy/hash-key.ts";
import { type ClusterPolicy, type Policy, policyFor, type WorkloadInNamespace } from "../../../domain/policy/policy.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { SecretName } from "../../../kube/secrets/own-secret.ts";
import { hashKeySecret } from "../../../manager/hash-key/hash-key-secret.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { CommandFailure } from "../../command/command-failure.ts";
import { commandErrorTexts } from "../../command/error-texts.ts";
import { compatibilitySettings } from "../../flags/compatibility-flags.ts";
import type { inheritedFlags } from "../../flags/inherited-flags.ts";
import { wantedKinds } from "../../flags/kind-flags.ts";
import { pacingSettings } from "../../flags/pacing-flags.ts";
import type { FlagValues } from "../../flags/parse-flags.ts";
import { ownershipOf } from "../../flags/run-flags.ts";
import { mapBounded } from "../requests.ts";
import type { WavePresence } from "./running-wave.ts";

/** The policy of the running Wave, as far as the user can read it. */
export interface KnownPolicy extends Omit<ClusterPolicy, "hashKeys" | "pacing"> {
  readonly pacing: NonNullable<ClusterPolicy["pacing"]>;
  readonly keys: ReadHashKeys;
  /** Whether Wave can act now; undefined if that was not read. */
  readonly presence?: WavePresence | undefined;
  /** The Lease of the running Wave; undefined if its verdicts are not read. */
  readonly lease?: { readonly namespace: string; readonly name: string } | undefined;
  /** The kinds of workload that Wave rolls and this cluster serves. */
  readonly kinds: readonly WorkloadRow[];
  /** The flags of the running Wave, and the policy without them; undefined if the command does not use any, or has shown them. */
  readonly inherited?: { readonly note: string; readonly without: FlagPolicy } | undefined;
}

/** The part of the policy that does not depend on the cluster. */
type FlagPolicy = Omit<KnownPolicy, "keys" | "kinds" | "lease">;

/** The namespace in which the docs install Wave. */
const usualNamespace = "wave-system";

/** Builds the policy from flags; reads the keys of hashes and the served kinds from the cluster. `namespace`: that of the running Wave. */
export async function readPolicy(
  client: Pick<ApiClient, "request">,
  values: FlagValues<typeof inheritedFlags>,
  namespace: string = usualNamespace,
): Promise<KnownPolicy> {
  return {
    ...(await policyOfFlags(values)),
    lease: {
      namespace: values["leader-election-namespace"] ?? namespace,
      name: values["leader-election-id"],
    },
    keys: await readHashKeys(client, values["hash-key-secret"]),
    kinds: await availableKinds(client, wantedKinds(values) ?? []),
  };
}

/** Returns the part of the policy that does not depend on the cluster. */
export async function policyOfFlags(values: FlagValues<typeof inheritedFlags>): Promise<FlagPolicy> {
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

/** Converts the policy to the form that the controller uses. */
export function clusterPolicyOf(known: KnownPolicy): ClusterPolicy {
  const { keys, kinds: _kinds, presence: _presence, lease: _lease, inherited: _inherited, ...policy } = known;
  return { ...policy, hashKeys: keys.state === "read" ? keys.keys : undefined };
}

/** Returns what decides about one workload, for `decide`. */
export function policyOf(workload: WorkloadInNamespace, policy: KnownPolicy): Policy {
  return policyFor(workload, clusterPolicyOf(policy));
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
    const read = await secret.read();
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
