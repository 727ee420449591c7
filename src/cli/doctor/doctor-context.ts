import type { Cluster } from "../cluster/cluster-command.ts";
import type { KnownPolicy } from "../cluster/inherited-flags.ts";
import type { WorkloadSnapshots } from "../cluster/read-workload-snapshots.ts";
import type { ReadResult } from "../cluster/read-result.ts";
import type { RunningWave, RunningWaves } from "../cluster/running-wave.ts";
import type { CheckResult, ObjectRef } from "./finding.ts";
import type { AnnotationScan } from "./annotation-scan.ts";

/** What checks are made from: a cluster with its Waves, and what several checks look at, each read once. */
export interface DoctorContext {
  readonly cluster: Cluster;
  /** Whose workloads are looked at; undefined: those of all namespaces. */
  readonly namespace: string | undefined;
  /** Of the API server, such as "v1.36.3"; undefined where it does not say. */
  readonly serverVersion: string | undefined;
  /** Every Wave that runs as a Deployment. */
  readonly waves: RunningWaves;
  /** Those of them that serve the namespace. */
  readonly serving: readonly RunningWave[];
  /** By which the workloads are judged. */
  readonly policy: KnownPolicy;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The workloads that opted in. */
  readonly workloads: () => Promise<ReadResult<WorkloadSnapshots>>;
  /** What is written on all workloads and Namespaces, whoever opted in. */
  readonly written: () => Promise<AnnotationScan>;
}

/** One thing that is looked at. */
export interface Check {
  /** What is looked at, for `--help` and docs/commands.md. */
  readonly means: string;
  readonly examine: (doctorContext: DoctorContext) => Promise<CheckResult>;
}

/** A Deployment of Wave, as a place. */
export function deploymentRef({ namespace, name }: RunningWave): ObjectRef {
  return { kind: "Deployment", namespace, name };
}

/** Whether a Wave elects a leader. */
export function elects({ values }: RunningWave): boolean {
  return values["leader-election"] || values["enable-ha"];
}

/** What puts back what an installation lost. */
export function reinstall({ object, namespace, name }: RunningWave): string {
  const { labels = {} } = object.metadata;
  const release = labels["app.kubernetes.io/instance"] ?? name;
  if (labels["app.kubernetes.io/managed-by"] !== "Helm") return "apply again what installed Wave: docs/install.md";
  return `helm get manifest ${release} -n ${namespace} | kubectl apply -f -`;
}
