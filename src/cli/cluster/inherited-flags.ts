import type { WorkloadRow } from "../../domain/model/workload.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { compatibilityFlags, compatibilitySettings } from "../flags/compatibility-flags.ts";
import type { Flag } from "../flags/flag-types.ts";
import { kindFlags, wantedKinds } from "../flags/kind-flags.ts";
import { pacingFlags, pacingSettings } from "../flags/pacing-flags.ts";
import type { FlagValues } from "../flags/parse-flags.ts";
import { ownershipOf, runFlags } from "../flags/run-flags.ts";
import { availableKinds } from "./available-kinds.ts";
import { type ReadHashKeys, readHashKeys } from "./hash-keys.ts";

const group = "What the Wave that runs was told, where its Deployment does not say it";

const told = <V>(flag: Flag<V>, help = flag.help): Flag<V> => ({ ...flag, group, help });

/** The flags of `wave run` by which it decides: whoever wants to know what it decides gives them as it has them. */
export const inheritedFlags = {
  namespaces: told(
    runFlags.namespaces,
    "The namespaces that it watches: of others it rolls nothing and reads nothing.",
  ),
  "cross-namespace": told(runFlags["cross-namespace"]),
  "first-sight": told(runFlags["first-sight"]),
  "hash-key-secret": told(
    runFlags["hash-key-secret"],
    "The Secret with the key of its hashes. Without it, or where you may not read it, it cannot be told what a hash under a key stands for.",
  ),
  "scheduling-hold": told(
    runFlags["scheduling-hold"],
    "Whether Pods are kept pending while a ConfigMap or Secret that they require is missing.",
  ),
  "owner-references": told(runFlags["owner-references"], "Whether it keeps owner references and finalizers."),
  "migrate-legacy": told(runFlags["migrate-legacy"], "Whether it removes owner references and finalizers."),
  compatibility: told(compatibilityFlags.compatibility, "Whose annotations it understands."),
  "auto-reload-all": told(compatibilityFlags["auto-reload-all"]),
  "reload-on-create": told(compatibilityFlags["reload-on-create"]),
  "reload-on-delete": told(compatibilityFlags["reload-on-delete"]),
  "namespaces-to-ignore": told(compatibilityFlags["namespaces-to-ignore"]),
  "namespace-selector": told(compatibilityFlags["namespace-selector"]),
  "resource-label-selector": told(compatibilityFlags["resource-label-selector"]),
  "resources-to-ignore": told(compatibilityFlags["resources-to-ignore"]),
  "enable-csi-integration": told(compatibilityFlags["enable-csi-integration"]),
  "workload-kinds": told(kindFlags["workload-kinds"], "The kinds that it rolls besides the built-in ones."),
  "is-Argo-Rollouts": told(kindFlags["is-Argo-Rollouts"]),
  "ignored-workload-types": told(kindFlags["ignored-workload-types"]),
  settle: told(pacingFlags.settle),
  "settle-max": told(pacingFlags["settle-max"]),
  "max-concurrent-rollouts": told(pacingFlags["max-concurrent-rollouts"]),
  "canary-size": told(pacingFlags["canary-size"]),
  soak: told(pacingFlags.soak),
  "halt-after-failures": told(pacingFlags["halt-after-failures"]),
  "rollout-timeout": told(pacingFlags["rollout-timeout"]),
  window: told(pacingFlags.window),
  observe: told(pacingFlags.observe, "Whether it writes nothing, and only tells what it would roll."),
};

/** The policy of the Wave that runs, as far as whoever asks knows it. */
export interface KnownPolicy extends Omit<Policy, "hashKeys" | "pacing"> {
  readonly pacing: NonNullable<Policy["pacing"]>;
  readonly keys: ReadHashKeys;
  /** The kinds of workload that it rolls and that are there. */
  readonly kinds: readonly WorkloadRow[];
}

/** What it was told, with the keys of hashes as far as they can be read. */
export async function readPolicy(
  client: Pick<ApiClient, "request">,
  values: FlagValues<typeof inheritedFlags>,
): Promise<KnownPolicy> {
  return {
    crossNamespace: values["cross-namespace"],
    firstSight: values["first-sight"],
    namespaces: values.namespaces,
    schedulingHold: values["scheduling-hold"],
    compatibility: compatibilitySettings(values),
    providerClasses: values["enable-csi-integration"],
    ownership: ownershipOf(values),
    pacing: pacingSettings(values),
    keys: await readHashKeys(client, values["hash-key-secret"]),
    kinds: await availableKinds(client, wantedKinds(values) ?? []),
  };
}

/** The same for `planRollout`. */
export function policyOf({ keys, kinds: _kinds, ...policy }: KnownPolicy): Policy {
  return { ...policy, hashKeys: keys.state === "read" ? keys.keys : undefined };
}
