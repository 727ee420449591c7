import { loadNamePatterns } from "../../../domain/compatibility/name-pattern.ts";
import type { WorkloadRow } from "../../../domain/model/workload.ts";
import { type ClusterPolicy, policyFor, type WorkloadInNamespace } from "../../../domain/policy/cluster-policy.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { compatibilitySettings } from "../../flags/compatibility-flags.ts";
import type { inheritedFlags } from "../../flags/inherited-flags.ts";
import { wantedKinds } from "../../flags/kind-flags.ts";
import { pacingSettings } from "../../flags/pacing-flags.ts";
import type { FlagValues } from "../../flags/parse-flags.ts";
import { ownershipOf } from "../../flags/run-flags.ts";
import { availableKinds } from "./available-kinds.ts";
import { type ReadHashKeys, readHashKeys } from "./hash-keys.ts";
import type { WavePresence } from "./wave-presence.ts";

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
