import type { CompatibilitySettings } from "../domain/compatibility/settings.ts";
import type { WantedKind } from "../domain/model/kinds/requested-kind.ts";
import type { PacingFlags } from "../domain/policy/pacing-flags.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { LogFormat, LogLevel } from "../telemetry/logging/log.ts";
import type { SecretName } from "./hash-key/hash-key-secret.ts";
import type { ElectionTimings } from "./leader-election/lease.ts";

/** How admission webhooks are served. */
export interface WebhookSettings {
  /** In Go's form: `:9443`. */
  readonly bindAddress: string;
  readonly tlsDirectory: string | undefined;
  /** Then callers must show a certificate by one of the authorities in this file. */
  readonly clientCaFile: string | undefined;
  readonly serviceName: string;
  /** Where the API server calls Wave when it runs outside the cluster. */
  readonly url: URL | undefined;
}

/** How one replica of several is chosen to write. */
export interface LeaderElectionSettings extends ElectionTimings {
  /** Name of the Lease. */
  readonly id: string;
  readonly namespace: string;
}

/** Everything that `wave run` was told, checked. */
export interface Settings {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly crossNamespace: "granted" | "any" | "none";
  /** Undefined: as in the dialect that a workload opted in by. */
  readonly firstSight?: "roll" | "record" | undefined;
  /** Rollouts a second; Infinity is no limit. */
  readonly updateRate: number;
  readonly updateBurst: number;
  /** 0 is never. */
  readonly syncPeriodMs: number;
  /** Undefined: not served. */
  readonly metricsBindAddress: string | undefined;
  /** Undefined: not served. */
  readonly healthProbeBindAddress: string | undefined;
  /** Undefined: what suits where the log goes. */
  readonly logFormat: LogFormat | undefined;
  readonly logLevel: LogLevel;
  /** The file that says whom to tell what; undefined: nobody. */
  readonly notify?: string | undefined;
  readonly schedulingHold: boolean;
  /** Where the key of hashes is stored; undefined: hashes have none. */
  readonly hashKeySecret?: SecretName | undefined;
  /** Whose annotations are understood; undefined: Wave's alone. */
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Kinds of workload that are rolled besides the built-in ones, where they are there. */
  readonly workloadKinds?: readonly WantedKind[] | undefined;
  /** Whether what SecretProviderClasses fetch counts. Default: no. */
  readonly providerClasses?: boolean | undefined;
  /** What becomes of owner references and finalizers; undefined: they are left as they are. */
  readonly ownership?: Policy["ownership"];
  /** When what is due may happen. */
  readonly pacing: PacingFlags;
  /** Undefined: off. */
  readonly webhooks: WebhookSettings | undefined;
  /** Undefined: this replica leads, alone. */
  readonly leaderElection: LeaderElectionSettings | undefined;
  /** The namespace of the Pod that Wave runs in; undefined outside a cluster. */
  readonly podNamespace: string | undefined;
  /** The flags that were given another value than their default, as `name=value`. */
  readonly changed: readonly string[];
  /** One line for each flag that was given for another controller's sake and has no effect here. */
  readonly withoutEffect?: readonly string[];
}
