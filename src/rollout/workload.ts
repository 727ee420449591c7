import type { DaemonSet, Deployment, StatefulSet } from "kubernetes-types/apps/v1";
import type { Reference } from "./references.ts";
import type { Warning } from "./warning.ts";

/** The kinds of workload that Wave rolls, all of `apps/v1`. */
export type WorkloadKind = "Deployment" | "StatefulSet" | "DaemonSet";

/** Every {@link WorkloadKind}. */
export const workloadKinds: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "DaemonSet"];

/** A workload as the API server sends it. */
export type WorkloadObject = Deployment | StatefulSet | DaemonSet;

/** Which workload is meant. */
export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** Whether a workload asks to be rolled. */
export type OptIn =
  | { readonly state: "in" }
  | { readonly state: "out" }
  | { readonly state: "unclear"; readonly value: string };

/** An annotation that was not understood. */
export type Mistake = Warning;

/** All that Wave needs to know of a workload; what caches keep. */
export interface Workload extends WorkloadName {
  /** "" while it is being created and has none yet. */
  readonly uid: string;
  /** 0 while it is being created and has none yet. */
  readonly generation: number;
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly optIn: OptIn;
  /** What its Pods read, merged per object and way of reading, sorted; empty when it has not opted in. */
  readonly references: readonly Reference[];
  /** The hash that its pod template carries. */
  readonly recordedHash: string | undefined;
  /** Whether its pod template has annotations at all; a JSON Patch needs to know. */
  readonly hasTemplateAnnotations: boolean;
  /** `spec.template.spec.schedulerName`. */
  readonly schedulerName: string | undefined;
  /** The scheduler to restore, from the annotation of the scheduling gate; undefined where there is none. */
  readonly disabledScheduler: string | undefined;
  readonly mistakes: readonly Mistake[];
}

/** The key of a workload in stores and queues: `Deployment/namespace/name`. */
export function workloadKey({ kind, namespace, name }: WorkloadName): string {
  return `${kind}/${namespace}/${name}`;
}
