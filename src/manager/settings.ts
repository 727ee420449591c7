import type { PrometheusSettings } from "../controllers/rollout/gate/query-alerts.ts";
import type { RequestedKind } from "../domain/model/kinds/requested-kind.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { ChosenCluster } from "../kube/config/cluster-config.ts";
import type { SecretName } from "../kube/secrets/own-secret.ts";
import type { LogFormat, LogLevel } from "../telemetry/logging/log.ts";
import type { WebhookOptions } from "../webhook/webhook.ts";
import type { ElectionTimings } from "./leader-election/lease.ts";

/** The checked flags of the webhook, which `--enable-webhooks` starts. */
export type WebhookSettings = Pick<
  WebhookOptions,
  "bindAddress" | "tlsDirectory" | "clientCaFile" | "serviceName" | "url"
>;

/** The Lease of the leader and its timings, in milliseconds (https://kubernetes.io/docs/concepts/architecture/leases/#leader-election). */
export interface LeaderElectionSettings extends ElectionTimings {
  /** Name of the Lease. */
  readonly id: string;
  readonly namespace: string;
}

/** The checked flags of the alert gate. */
export interface AlertGateSettings extends PrometheusSettings {
  /** Whether rollouts wait as long as Prometheus does not answer. */
  readonly isRequired: boolean;
}

/** The checked flags of `wave run`. */
export interface Settings extends Policy {
  /** The cluster that the flags choose. */
  readonly cluster: ChosenCluster;
  /** Whether Wave starts outside the cluster although an installed Wave rolls the same namespaces. Default: no. */
  readonly besideInstalled?: boolean;
  /** Writes per second; Infinity: no limit. */
  readonly updateRate: number;
  readonly updateBurst: number;
  /** Milliseconds; 0: never. */
  readonly syncPeriodMs: number;
  /** Undefined: not served. */
  readonly metricsBindAddress: string | undefined;
  /** Undefined: not served. */
  readonly healthProbeBindAddress: string | undefined;
  /** Undefined: chosen by the output of the log. */
  readonly logFormat: LogFormat | undefined;
  readonly logLevel: LogLevel;
  /** File with notification receivers; undefined: no notifications. */
  readonly notify?: string | undefined;
  /** The Secret with the hash key; undefined: hashes have no key. */
  readonly hashKeySecret?: SecretName | undefined;
  /** Kinds of workload in addition to the built-in ones. Kinds that the cluster does not have are ignored. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  /** Undefined: no alert holds a rollout. */
  readonly alertGate?: AlertGateSettings | undefined;
  /** Undefined: off. */
  readonly webhooks: WebhookSettings | undefined;
  /** Undefined: no leader election, this replica always leads. */
  readonly leaderElection: LeaderElectionSettings | undefined;
  /** The namespace of the Pod of Wave; undefined outside a cluster. */
  readonly podNamespace: string | undefined;
  /** Flags whose value differs from the default, as `name=value`. */
  readonly changed: readonly string[];
  /** One line for each given flag that exists only for compatibility and has no effect. */
  readonly withoutEffect?: readonly string[];
}
