import { isDnsLabel, isDnsSubdomain } from "../../domain/syntax/names.ts";
import { defaultLeaseDurationMs } from "../../manager/leader-election/lease.ts";
import { logFormats, logLevels } from "../../telemetry/logging/log.ts";
import {
  compatibilityFlags,
  kindFlags,
  reloaderKindFlags,
  withReloaderLevels,
  workloadKindsFlag,
} from "./compatibility-flags.ts";
import { clusterFlags } from "./connection-flags.ts";
import {
  bindAddress,
  bool,
  choice,
  duration,
  type Flag,
  httpsOrigin,
  namespacedName,
  namespaces,
  rate,
  text,
  wholeNumber,
} from "./flag-types.ts";
import { gateFlags, pacingFlags } from "./pacing-flags.ts";

const cluster = "Cluster";
const rollouts = "Rollouts";
const observability = "Logs, metrics and probes";
const notifications = "Notifications";
const webhooks = "Webhooks";
const election = "Leader election";

const name = "a name of lower-case letters, digits and dashes";

const logLevel = choice({
  group: observability,
  of: logLevels,
  default: "info",
  help: "Lowest level of log lines that are written.",
});

/** The flags of `wave run`, one row a flag, in the order of `--help-all`. */
export const runFlags = {
  ...clusterFlags,
  "beside-installed": bool({
    group: cluster,
    default: false,
    help: "Start outside the cluster although a Wave is installed there that rolls the same namespaces. Both then roll each workload.",
  }),
  namespaces: namespaces({
    group: cluster,
    help: "Watch and roll workloads only in these namespaces. With this flag, Wave needs permissions only in these namespaces, and permission to read the Namespace objects with these names.",
  }),

  "cross-namespace": choice({
    group: rollouts,
    of: ["granted", "any", "none"],
    default: "granted",
    help: "Extra ConfigMaps and Secrets of other namespaces that Wave tracks. `granted`: objects whose annotation wave.pusher.com/shared-with names the namespace of the workload. `any`: all objects. `none`: no objects.",
  }),
  "first-sight": choice({
    group: rollouts,
    of: ["roll", "record"],
    default: undefined,
    shownDefault: "roll; record if annotations of Reloader opt in",
    help: "How to treat running workloads that Wave has not seen before, if a Pod may read an earlier configuration. `roll`: restart them once. `record`: record the current configuration without a restart.",
  }),
  "update-rate": rate({
    group: rollouts,
    default: 10,
    help: "Maximum number of writes per second after the burst. Rollouts go first, and namespaces take turns. `unlimited`: no limit.",
  }),
  "update-burst": wholeNumber({
    group: rollouts,
    default: 100,
    help: "Number of writes at once before --update-rate applies.",
  }),
  "hash-key-secret": namespacedName({
    group: rollouts,
    help: "Secret in which Wave keeps a random key for its hashes. With the key, hashes reveal nothing about the values.",
  }),
  "workload-kinds": workloadKindsFlag,
  "sync-period": duration({
    group: rollouts,
    default: 300_000,
    minMs: 1000,
    zero: "no resync",
    help: "Interval between resyncs of all workloads. Wave also plans a workload after every change. 0: no resync.",
  }),

  "pin-config": bool({
    group: rollouts,
    default: false,
    help: "Store what a revision reads as immutable ConfigMaps, for workloads with the annotation pin-config. Their Pods read these copies, so that no Pod reads a change before its rollout. Needs permission to create, patch and delete ConfigMaps.",
  }),
  "owner-references": bool({
    group: rollouts,
    default: false,
    help: "Make each workload an owner of the ConfigMaps and Secrets in its namespace that it references, for tools that show ownership. Deleting a workload does not delete these objects. Needs permission to patch ConfigMaps and Secrets.",
  }),
  "migrate-legacy": bool({
    group: rollouts,
    default: false,
    help: "Remove the owner references and finalizers that early versions of Wave in Go or --owner-references added. Needs permission to patch ConfigMaps and Secrets.",
  }),

  ...pacingFlags,
  ...gateFlags,
  ...compatibilityFlags,
  ...reloaderKindFlags,

  "metrics-bind-address": bindAddress({
    group: observability,
    default: ":8080",
    orOff: true,
    help: "Address of /metrics for Prometheus. Outside a cluster: 127.0.0.1:8080. 0: off.",
  }),
  "health-probe-bind-address": bindAddress({
    group: observability,
    default: ":8081",
    orOff: true,
    help: "Address of /healthz and /readyz; ?verbose lists the checks. Outside a cluster: 127.0.0.1:8081. 0: off.",
  }),
  "log-format": {
    ...choice({
      group: observability,
      of: logFormats,
      default: undefined,
      shownDefault: "text on a terminal, otherwise json",
      help: "Format of the log on standard error.",
    }),
    emptyIsDefault: true,
  },
  "log-level": withReloaderLevels(logLevel),
  notify: text({
    group: notifications,
    placeholder: "FILE",
    help: "YAML file with notification receivers (Slack, Teams, Google Chat, JSON, CloudEvents). Read once at start. Default: no notifications.",
  }),

  "enable-webhooks": bool({
    group: webhooks,
    default: false,
    help: "Serve admission webhooks, so that the first Pods of a workload already have the hash.",
  }),
  "webhook-bind-address": bindAddress({
    group: webhooks,
    default: ":9443",
    orOff: false,
    help: "Address of the webhooks.",
  }),
  "webhook-tls-directory": text({
    group: webhooks,
    placeholder: "DIR",
    help: "Directory with tls.crt, tls.key and token (the secret part of the webhook path). Wave reads the files again when they change. Default: Wave creates its own certificate and token.",
  }),
  "webhook-client-ca-file": text({
    group: webhooks,
    placeholder: "FILE",
    help: "File with certificate authorities. Wave then accepts only clients with a certificate from one of them. The API server must be configured to present such a certificate.",
  }),
  "webhook-service-name": text({
    group: webhooks,
    placeholder: "NAME",
    form: isDnsLabel,
    allowed: name,
    default: "wave-webhook",
    help: "Service through which the API server calls the webhooks. The certificate contains the DNS names of the Service.",
  }),
  "webhook-url": httpsOrigin({
    group: webhooks,
    help: "URL at which the API server calls a Wave outside the cluster. Wave then registers the webhooks itself.",
  }),
  "scheduling-hold": bool({
    group: webhooks,
    default: true,
    help: "Keep new Pods pending while a ConfigMap or Secret that they require is missing. `false`: no new scheduling holds, and Wave schedules Pods that are pending now.",
  }),

  "leader-election": bool({
    group: election,
    default: false,
    help: "Elect one replica as leader. Only the leader rolls workloads; the other replicas stand by.",
  }),
  "leader-election-id": text({
    group: election,
    placeholder: "NAME",
    form: isDnsSubdomain,
    allowed: name,
    default: "wave",
    help: "Name of the Lease.",
  }),
  "leader-election-namespace": text({
    group: election,
    placeholder: "NAME",
    form: isDnsLabel,
    allowed: name,
    shownDefault: "namespace of the Pod",
    help: "Namespace of the Lease.",
  }),
  "leader-election-lease-duration": duration({
    group: election,
    default: defaultLeaseDurationMs,
    minMs: 1000,
    help: "Time after the last renewal until another replica takes over. Raise it if the API server is slow.",
  }),
};

/** Returns how Wave treats owner references. `keep` includes the removal of references of early versions that are no longer wanted. */
export function ownershipOf(flags: {
  readonly "owner-references": boolean;
  readonly "migrate-legacy": boolean;
}): "keep" | "remove" | undefined {
  if (flags["owner-references"]) return "keep";
  return flags["migrate-legacy"] ? "remove" : undefined;
}

const group = "Flags of the running Wave (default: read from its Deployment)";

function inherited<V>(flag: Flag<V>): Flag<V> {
  return { ...flag, group };
}

/** The flags that decisions depend on: read from the Deployment of Wave, or given by a person. `verbose` shows them. */
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
