import type { OptIn } from "../compatibility/directive.ts";
import type { PeerDirectives } from "../compatibility/directives.ts";
import type { PolicyAnnotations } from "../policy/policy-rows.ts";
import type { Annotations } from "../references/annotations.ts";
import type { LimitExceeded, Reference } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import type { JsonPatch } from "../syntax/json.ts";
import type { Progress, TemplateSource, WorkloadKind, WorkloadRow } from "./kind-row.ts";
import type { KeptPods, RolloutStrategy } from "./rollout-strategy.ts";

/** A write of a pod template that a watch has shown. It may restore an earlier template that still has Pods. */
export interface TemplateWrite {
  /** The resourceVersion of the workload after the write. */
  readonly revision: number;
  /** In seconds since the epoch; undefined if the API has no time of it, because it only removed fields of other clients. */
  readonly at: number | undefined;
  /** The {@link Workload.templateEditedAt} after the write: a later time is that of an edit of other fields, such as an annotation. */
  readonly editedAt: number;
  /** Whether it created the workload, so that there are no earlier Pods. */
  readonly isFirst: boolean;
  /** Whether all Pods before it were of one other pod template, so that all Pods of this one are created later. */
  readonly hasOnlyNewPods: boolean;
}

/** The slim form of a workload: everything that Wave needs, and what caches keep. */
export interface Workload extends WorkloadName {
  /** The row of its kind. */
  readonly row: WorkloadRow;
  /** "" during creation, before the API server sets it. */
  readonly uid: string;
  /** 0 during creation, before the API server sets it. */
  readonly generation: number;
  /**
   * The version of the object that was parsed; 0 if it has none. Everything here except `progress` is at least as new. Comparisons of workloads
   * ignore it.
   */
  readonly resourceVersion: number;
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly optIn: OptIn;
  /** What its Pods read, merged per object and way of reading, sorted. Empty if it has not opted in. */
  readonly references: readonly Reference[];
  /** The limit that it exceeds, so that its references are unknown. Undefined if it has not opted in, except for the limit of its namespace. */
  readonly limitExceeded: LimitExceeded | undefined;
  /** Its annotations that a plan may depend on: for the tests of a patch, and to see what an undo changed. */
  readonly plannedAnnotations: Annotations;
  /** The Wave annotations and those of the enabled compatibilities, or a digest of them. Equal if they are equal. */
  readonly annotationsFingerprint: string;
  /** What annotations of other controllers request; undefined if no compatibility is enabled. */
  readonly peer: PeerDirectives | undefined;
  readonly strategy: RolloutStrategy;
  /** The object whose pod template it uses; undefined if it has its own. */
  readonly templateSource: TemplateSource | undefined;
  /** The annotation that has its hash, or that will have it. */
  readonly hashAnnotation: string;
  /** The hash in that annotation. */
  readonly recordedHash: string | undefined;
  /** The raw annotation with its recorded configuration; undefined if absent. */
  readonly recordedConfig: string | undefined;
  /** The raw annotation with the versions of SecretProviderClasses that its hash includes; undefined if absent. */
  readonly recordedClasses: string | undefined;
  /** The raw annotation of its pod template with the copies that its Pods read; undefined if absent. */
  readonly pinned: string | undefined;
  /** The raw annotation with the content that was rolled back; undefined if absent. */
  readonly rejected: string | undefined;
  /** The raw annotation with the pins before its last rollout; undefined if absent. */
  readonly previousPins: string | undefined;
  /** The raw annotation with the times in which its configuration differed; undefined if absent. No plan reads it. */
  readonly differed: string | undefined;
  /** The raw annotation with its held state; undefined if absent. No plan reads it. */
  readonly state: string | undefined;
  /** Whether it has any annotations, of anyone. A JSON Patch needs to know. */
  readonly hasAnnotations: boolean;
  /** Whether its pod template has metadata. Built-in kinds always have it, because their selectors match its labels. */
  readonly hasTemplateMetadata: boolean;
  /** Whether its pod template has any annotations. */
  readonly hasTemplateAnnotations: boolean;
  /** `spec.template.spec.schedulerName`. */
  readonly schedulerName: string | undefined;
  /** Whether its Pods mount a volume of the Secrets Store driver, which may create Secrets that the Pods read. */
  readonly mountsSecretsStore: boolean;
  /** The scheduler to restore, from the annotation of the scheduling hold; undefined if absent. */
  readonly schedulerToRestore: string | undefined;
  /** The patch that ends Wave's ownership of a scheduler that it restored; undefined if it owns none. */
  readonly disowning: JsonPatch | undefined;
  /** Whether Stakater Reloader left it paused. */
  readonly pausedByReloader: boolean;
  /** Whether it has the finalizer of an old Wave version or of `--owner-references`. */
  readonly oldFinalizer: boolean;
  /** Warnings about invalid annotations. */
  readonly mistakes: readonly Warning[];
  /** Its raw policy annotations. */
  readonly policy: PolicyAnnotations;
  /** `spec.replicas`; undefined for a kind without this field, such as a DaemonSet. */
  readonly replicas: number | undefined;
  /** The progress of its rollout. */
  readonly progress: Progress;
  /** Why Kubernetes keeps Pods after a change of its pod template; undefined if it replaces all of them. */
  readonly keptPods: KeptPods | undefined;
  /** When it was created, in seconds since the epoch; 0 during its creation. */
  readonly createdAt: number;
  /** When field manager `wave` last changed it, in seconds since the epoch; 0 if never, or if none of its fields is left. */
  readonly rolledAt: number;
  /** When Wave last rolled it or recorded its configuration, in seconds since the epoch; 0 if unknown. A later change is not in its hash. */
  readonly hashWrittenAt: number;
  /** When another field manager last changed its pod template, in seconds since the epoch; 0 if none did, or if that is not recorded. */
  readonly templateEditedAt: number;
  /** A digest of its pod template, to find out whether that has changed; 0 if the workload has not opted in. */
  readonly template: number;
  /** When its pod template was written; undefined if the cache has not seen the write. */
  readonly templateWrite: TemplateWrite | undefined;
  /** The raw annotation with the number of its last rollout in a series without a quiet time; undefined if absent. */
  readonly consecutiveRollouts: string | undefined;
  /** The raw mark of a last rollout that began while it was not complete: when it was rolled while complete, or "never"; undefined if absent. */
  readonly rolledIncomplete: string | undefined;
  /** The raw annotation with the alert by which a rollout failed; undefined if absent. */
  readonly failedAlert: string | undefined;
  /** The raw annotation with the cause of its last rollout; undefined if absent. Batches and the alert gate read it. */
  readonly cause: string | undefined;
  /** The raw annotation with digests of what its recorded hash covers; undefined if absent. Only reasons and batches depend on it. */
  readonly configDigests: string | undefined;
  /** The other field manager that changed its spec or metadata last; undefined if there is none. */
  readonly editedBy: string | undefined;
}

/** The kind, namespace and name of a workload. */
export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the key of a workload in stores and queues: `Deployment/namespace/name`. */
export function workloadKey({ kind, namespace, name }: WorkloadName): string {
  return `${kind}/${namespace}/${name}`;
}

/** Returns the namespace in a key of {@link workloadKey}. */
export function namespaceOf(key: string): string {
  return key.slice(key.indexOf("/") + 1, key.lastIndexOf("/"));
}

/** Parses a key of {@link workloadKey}. Throws an Error if the text is not such a key. */
export function parseWorkloadKey(key: string): WorkloadName {
  const [kind, namespace, name, ...rest] = key.split("/");
  if (!kind || !namespace || !name || rest.length > 0) throw new Error(`"${key}" is not the key of a workload`);
  return { kind, namespace, name };
}

/** Reports whether the status shows that all Pods were created from the pod template. */
export function hasOneTemplate({ progress, keptPods }: Pick<Workload, "progress" | "keptPods">): boolean {
  return progress.state === "complete" && keptPods === undefined;
}

/**
 * Returns when another field manager last changed the pod template, in seconds since the epoch; 0 if none did, or if that is not recorded. The
 * API has one time for all fields of a manager, and the manager may have changed an annotation later. A watch shows which of them changed.
 */
export function templateEditAt({
  templateEditedAt,
  templateWrite,
}: Pick<Workload, "templateEditedAt" | "templateWrite">): number {
  return Math.min(templateEditedAt, templateWrite?.editedAt ?? templateEditedAt);
}
