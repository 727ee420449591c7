import { compatibilityFlags } from "./compatibility-flags.ts";
import { bool, type Flag } from "./flag-types.ts";
import { kindFlags } from "./kind-flags.ts";
import { pacingFlags } from "./pacing-flags.ts";
import { runFlags } from "./run-flags.ts";

const group = "Flags of the running Wave (default: read from its Deployment)";

function inherited<V>(flag: Flag<V>): Flag<V> {
  return { ...flag, group };
}

/**
 * The flags of `wave run` that a decision depends on. A cluster command reads them from the Deployment of Wave. A person gives
 * those that cannot be read there. `verbose` shows them.
 */
export const inheritedFlags = {
  namespaces: inherited(runFlags.namespaces),
  "cross-namespace": inherited(runFlags["cross-namespace"]),
  "first-sight": inherited(runFlags["first-sight"]),
  "hash-key-secret": inherited({
    ...runFlags["hash-key-secret"],
    help: "Secret with the key of the hashes. Without read access to this Secret, keyed hashes cannot be compared.",
  }),
  "scheduling-hold": inherited(runFlags["scheduling-hold"]),
  "pin-config": inherited(runFlags["pin-config"]),
  "owner-references": inherited(runFlags["owner-references"]),
  "migrate-legacy": inherited(runFlags["migrate-legacy"]),
  compatibility: inherited(compatibilityFlags.compatibility),
  "auto-reload-all": inherited(compatibilityFlags["auto-reload-all"]),
  "reload-on-create": inherited(compatibilityFlags["reload-on-create"]),
  "reload-on-delete": inherited(compatibilityFlags["reload-on-delete"]),
  "namespaces-to-ignore": inherited(compatibilityFlags["namespaces-to-ignore"]),
  "namespace-selector": inherited(compatibilityFlags["namespace-selector"]),
  "resource-label-selector": inherited(compatibilityFlags["resource-label-selector"]),
  "resources-to-ignore": inherited(compatibilityFlags["resources-to-ignore"]),
  "enable-csi-integration": inherited(compatibilityFlags["enable-csi-integration"]),
  "workload-kinds": inherited(kindFlags["workload-kinds"]),
  "is-Argo-Rollouts": inherited(kindFlags["is-Argo-Rollouts"]),
  "ignored-workload-types": inherited(kindFlags["ignored-workload-types"]),
  settle: inherited(pacingFlags.settle),
  "max-concurrent-rollouts": inherited(pacingFlags["max-concurrent-rollouts"]),
  soak: inherited(pacingFlags.soak),
  "halt-after-failures": inherited(pacingFlags["halt-after-failures"]),
  "rollout-timeout": inherited(pacingFlags["rollout-timeout"]),
  window: inherited(pacingFlags.window),
  "gate-prometheus-url": inherited(pacingFlags["gate-prometheus-url"]),
  observe: inherited(pacingFlags.observe),
  "leader-election-id": inherited(runFlags["leader-election-id"]),
  "leader-election-namespace": inherited({
    ...runFlags["leader-election-namespace"],
    shownDefault: "wave-system",
    help: "Namespace of the Lease, in which Wave publishes up to when it has judged changes.",
  }),
  verbose: bool({
    group,
    short: "v",
    default: false,
    help: "Print the flags of the running Wave that the answer uses.",
  }),
};
