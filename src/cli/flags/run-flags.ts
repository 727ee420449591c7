import { isDnsLabel, isDnsSubdomain } from "../../domain/syntax/dns-name.ts";
import { defaultElectionTimings } from "../../manager/leader-election/lease.ts";
import { logFormats, logLevels } from "../../telemetry/logging/log.ts";
import { compatibilityFlags } from "./compatibility-flags.ts";
import {
  bindAddress,
  bool,
  choice,
  count,
  duration,
  httpsOrigin,
  namespacedName,
  namespaces,
  rate,
  text,
} from "./flag-types.ts";
import { kindFlagsOfReloader, workloadKindsFlag } from "./kind-flags.ts";
import { pacingFlags } from "./pacing-flags.ts";

const cluster = "Cluster";
const rollouts = "Rollouts";
const observability = "Logs, metrics and probes";
const notifications = "Notifications";
const admission = "Admission webhooks";
const election = "Leader election";

const name = "a name of lower-case letters, digits and dashes";

/** The flags of `wave run`, one row a flag, in the order of `--help`. */
export const runFlags = {
  kubeconfig: text({
    group: cluster,
    placeholder: "FILE",
    help: "Kubeconfig of the cluster. Else $KUBECONFIG, else the Pod's service account, else ~/.kube/config.",
  }),
  context: text({ group: cluster, placeholder: "NAME", help: "Context of the kubeconfig, else its current one." }),
  namespaces: namespaces({
    group: cluster,
    help: "Watch and roll workloads in these namespaces only; Wave then needs permissions only there, and to read these Namespaces.",
  }),

  "cross-namespace": choice({
    group: rollouts,
    of: ["granted", "any", "none"],
    default: "granted",
    help: "Which extra ConfigMaps and Secrets of other namespaces count: those whose wave.pusher.com/shared-with names the workload's namespace, any, or none.",
  }),
  "first-sight": choice({
    group: rollouts,
    of: ["roll", "record"],
    default: undefined,
    shownDefault: "roll, or record if Reloader's annotations ask for it",
    help: "What becomes of a running workload that has no hash yet: its Pods are replaced once, or what is there is taken for what they see.",
  }),
  "update-rate": rate({
    group: rollouts,
    default: 10,
    help: "Workloads rolled a second once the burst is used up, in permits between namespaces. unlimited: no limit.",
  }),
  "update-burst": count({ group: rollouts, default: 100, help: "Workloads rolled at once before the rate holds." }),
  "hash-key-secret": namespacedName({
    group: rollouts,
    help: "Make hashes under a random key that Wave keeps in this Secret, so that they tell nothing about what they are of.",
  }),
  "workload-kinds": workloadKindsFlag,
  "sync-period": duration({
    group: rollouts,
    default: 300_000,
    minMs: 1000,
    zero: "never",
    help: "How often everything is planned again, besides at every change. 0: never.",
  }),

  "owner-references": bool({
    group: rollouts,
    default: false,
    help: "Make each workload an owner of the ConfigMaps and Secrets of its namespace that it references, for tools that draw ownership. None of them is deleted with it. Needs permission to patch them.",
  }),
  "migrate-legacy": bool({
    group: rollouts,
    default: false,
    help: "Remove the owner references and finalizers of early versions of Wave in Go, or of --owner-references. Needs permission to patch ConfigMaps and Secrets.",
  }),

  ...pacingFlags,
  ...compatibilityFlags,
  ...kindFlagsOfReloader,

  "metrics-bind-address": bindAddress({
    group: observability,
    default: ":8080",
    orOff: true,
    help: "Where /metrics is served for Prometheus. 0: nowhere.",
  }),
  "health-probe-bind-address": bindAddress({
    group: observability,
    default: ":8081",
    orOff: true,
    help: "Where /healthz and /readyz are served; ?verbose lists the checks. 0: nowhere.",
  }),
  "log-format": choice({
    group: observability,
    of: logFormats,
    default: undefined,
    shownDefault: "text on a terminal, else json",
    help: "How log lines are written, to standard error.",
  }),
  "log-level": choice({
    group: observability,
    of: logLevels,
    default: "info",
    help: "The least severe lines written.",
  }),
  notify: text({
    group: notifications,
    placeholder: "FILE",
    help: "Whom to tell what Events tell, in YAML: Slack, Teams, Google Chat, JSON or CloudEvents; read when Wave starts. Else nobody.",
  }),

  "enable-webhooks": bool({
    group: admission,
    default: false,
    help: "Serve admission webhooks, so that workloads have their hash from the first Pod.",
  }),
  "webhook-bind-address": bindAddress({
    group: admission,
    default: ":9443",
    orOff: false,
    help: "Where the webhooks are served.",
  }),
  "webhook-tls-directory": text({
    group: admission,
    placeholder: "DIR",
    help: "Certificate and key to serve with, as tls.crt and tls.key, and the token of the secret path, as token; read again when they change. Else Wave makes its own.",
  }),
  "webhook-client-ca-file": text({
    group: admission,
    placeholder: "FILE",
    help: "Serve only clients with a certificate by an authority in this file, for API servers that are told to show one.",
  }),
  "webhook-service-name": text({
    group: admission,
    placeholder: "NAME",
    form: isDnsLabel,
    allowed: name,
    default: "wave-webhook",
    help: "The Service through which the API server calls the webhooks; its names go into the certificate.",
  }),
  "webhook-url": httpsOrigin({
    group: admission,
    help: "For running outside the cluster: the API server calls this URL, and Wave registers the webhooks itself.",
  }),
  "scheduling-hold": bool({
    group: admission,
    default: true,
    help: "Keep Pods pending while a ConfigMap or Secret that they require is missing. false: also lets those go that wait.",
  }),

  "leader-election": bool({
    group: election,
    default: false,
    help: "Let one replica of several roll workloads; the others stand by.",
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
    shownDefault: "the Pod's",
    help: "Namespace of the Lease.",
  }),
  "leader-election-lease-duration": duration({
    group: election,
    default: defaultElectionTimings.leaseDurationMs,
    minMs: 1000,
    help: "How long the others wait for a leader that says nothing.",
  }),
  "leader-election-renew-deadline": duration({
    group: election,
    default: defaultElectionTimings.renewDeadlineMs,
    minMs: 100,
    help: "How long a leader tries to renew before it stops leading.",
  }),
  "leader-election-retry-period": duration({
    group: election,
    default: defaultElectionTimings.retryPeriodMs,
    minMs: 10,
    help: "How long to wait between tries to acquire or renew.",
  }),
};

/** What becomes of owner references; who keeps them removes those of early versions by that, where they are no more to be. */
export function ownershipOf(flags: {
  readonly "owner-references": boolean;
  readonly "migrate-legacy": boolean;
}): "keep" | "remove" | undefined {
  if (flags["owner-references"]) return "keep";
  return flags["migrate-legacy"] ? "remove" : undefined;
}
