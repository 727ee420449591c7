import { hash } from "node:crypto";
import { sharedString } from "../syntax/json.ts";

// domain/references: how workloads refer to configuration, and the names of annotations. Knows no policy, plan or kind of workload.

/** The prefix of all Wave annotations. */
export const annotationPrefix = "wave.pusher.com/";

/** Annotation of a workload or Namespace: "true" opts in. */
export const updateOnConfigChange = "wave.pusher.com/update-on-config-change";

/** Annotation of the Namespace in which Wave runs: holds every rollout, and gives the reason. */
export const holdCluster = "wave.pusher.com/hold-cluster";

/** Annotation of a pod template, written by Wave: the hash of the configuration that its Pods read. */
export const configHash = "wave.pusher.com/config-hash";

/**
 * Annotation of a template source, written by Wave: the hash of the workload that uses the pod template by workloadRef. It is present if
 * the workload that owns the template has a different hash in {@link configHash}.
 */
export const workloadRefHash = "wave.pusher.com/workload-ref-hash";

/**
 * Annotation of a pod template, written by Wave: the copies that its Pods read in place of ConfigMaps, as comma-separated `source=copy`. Pods
 * inherit it.
 */
export const pinnedAnnotation = "wave.pusher.com/pinned";

/**
 * Annotation of a workload, written by Wave: the content of ConfigMaps that was rolled back, as comma-separated `name=digest`. Wave does not
 * roll to it again.
 */
export const rejectedConfigMaps = "wave.pusher.com/rejected-configmaps";

/**
 * Annotation of a workload, written by Wave with `on-failure: return`: the hash of the last rollout, a space, and the pins before it. Wave
 * returns to these pins if the rollout fails.
 */
export const previousPins = "wave.pusher.com/previous-pins";

/** Label of a pinned copy, with the value "true". */
export const pinnedCopyLabel = "wave.pusher.com/pinned-copy";

/** Annotation of a pinned copy: the name of its source. */
export const copyOf = "wave.pusher.com/copy-of";
/** Annotation of a pinned copy: the field manager that wrote its content first. */
export const editedBy = "wave.pusher.com/edited-by";

/** Annotation of a pinned copy: the time since when nothing uses it, in RFC 3339. Wave deletes it an hour later. */
export const unusedSince = "wave.pusher.com/unused-since";

/** Annotation of the Secret with the hash keys: "true" requests a new key. Wave removes the annotation after the rotation. */
export const rotateHashKey = "wave.pusher.com/rotate-hash-key";

/** Label of the record of a Job that is being replaced, with the value "true". */
export const jobReplacementLabel = "wave.pusher.com/job-replacement";

/** Annotation of such a record: what the record does not store in its own fields. */
export const replacedJob = "wave.pusher.com/replaced-job";

/** The labels of the objects that Wave creates, on which people do not write annotations. */
export const labelsOfCreated: readonly string[] = [pinnedCopyLabel, jobReplacementLabel];

/** The annotations that Wave writes on pinned copies. */
export const writtenOnCopies: readonly string[] = [copyOf, editedBy, unusedSince];

/** Annotation of a Deployment: "true" lets Wave restart its Pods for a workload that uses its pod template by workloadRef. */
export const allowWorkloadRef = "wave.pusher.com/allow-workload-ref";

/** Annotation of a workload: ConfigMaps that it reads outside its pod template, as comma-separated `name` or `namespace/name`. */
export const extraConfigMaps = "wave.pusher.com/extra-configmaps";

/** Annotation of a workload: Secrets that it reads outside its pod template, as comma-separated `name` or `namespace/name`. */
export const extraSecrets = "wave.pusher.com/extra-secrets";

/** Annotation of a workload, written by Wave: the schedulerName to restore when its configuration is complete. "" is a valid value. */
export const schedulingDisabled = "wave.pusher.com/scheduling-disabled";

/** Annotation of a workload, written by Wave: the configuration that the recorded hash represents, if the hash alone does not show that. */
export const recordedConfigAnnotation = "wave.pusher.com/recorded-config";

/** Annotation of a workload, written by Wave: short digests of what the recorded hash covers, by object and key. They name what changed later. */
export const configDigests = "wave.pusher.com/config-digests";

/** Annotation of a workload, written by Wave: the number of the last rollout in a series without a quiet time, also of the first one. */
export const consecutiveRollouts = "wave.pusher.com/consecutive-rollouts";

/** Annotation of a workload, written by Wave: if it was not complete before its last rollout, the time of the last rollout before which it was, or "never". */
export const rolledIncomplete = "wave.pusher.com/rolled-incomplete";

/** Annotation of a workload, written by Wave: digits of the hash of the last rollout, its time, and the alert that began to fire during it. */
export const failedAlertAnnotation = "wave.pusher.com/failed-alert";

/** Annotation of a workload, written by Wave: digits of the hash of the last rollout, when Wave started it, and why. Kubernetes copies it to the revision. */
export const causeAnnotation = "wave.pusher.com/cause";

/**
 * Annotation of a workload, written by Wave: the times in which the live configuration differed from that of the recorded hash. A Pod
 * whose containers started in such a time may run another configuration.
 */
export const configDiffered = "wave.pusher.com/config-differed";

/** Annotation of a workload, written by Wave: the verdict of the leader on a state that has lasted for a while. No plan reads it. */
export const stateAnnotation = "wave.pusher.com/state";

/** Annotation of a pod template, written by Wave: the time of a rollout with an unchanged hash, which replaces mixed Pods. */
export const rolledAtAnnotation = "wave.pusher.com/rolled-at";

/** Annotation of a workload, written by Wave: the versions of SecretProviderClass objects that its recorded hash includes. */
export const providerClasses = "wave.pusher.com/secret-provider-classes";

/** Annotation of a ConfigMap or Secret: the namespaces whose workloads may name it in `extra-…`, comma-separated, or "*". */
export const sharedWith = "wave.pusher.com/shared-with";

/** The annotations that Wave writes on the metadata of workloads. policy/annotation-mistakes.ts lists those that people write. */
export const writtenByWave: readonly string[] = [
  schedulingDisabled,
  recordedConfigAnnotation,
  configDigests,
  providerClasses,
  consecutiveRollouts,
  rolledIncomplete,
  failedAlertAnnotation,
  causeAnnotation,
  rejectedConfigMaps,
  previousPins,
  configDiffered,
  stateAnnotation,
];

/** The annotations that Wave writes on pod templates, beside those of hashes. */
export const writtenOnTemplates: readonly string[] = [
  configHash,
  workloadRefHash,
  pinnedAnnotation,
  rolledAtAnnotation,
];

/** The annotations of an object, by name. */
export type Annotations = Readonly<Record<string, string>>;

/** The annotations of a workload and of its pod template. */
export interface WorkloadAnnotations {
  readonly annotations: Annotations;
  readonly templateAnnotations: Annotations;
}

/** Returns the value of an annotation, and the path of the metadata that have it. The workload comes first, then its pod template. */
export function workloadFirst({ annotations, templateAnnotations }: WorkloadAnnotations, name: string) {
  const value = annotations[name];
  if (value !== undefined) return { value, metadata: "metadata" };
  return { value: templateAnnotations[name], metadata: "spec.template.metadata" };
}

/** Returns the sorted names of the Wave annotations among `annotations`. */
export function waveAnnotationNames(annotations: Annotations): readonly string[] {
  return Object.keys(annotations)
    .filter((name) => name.startsWith(annotationPrefix))
    .sort();
}

/** Returns the size of the Wave annotations and of the annotations with `others` as names: bytes of names and values. */
export function waveAnnotationBytes(annotations: Annotations, others: readonly string[] = []): number {
  const bytes = (text: unknown) => (typeof text === "string" ? Buffer.byteLength(text) : 0);
  return readNames(annotations, others).reduce((sum, name) => sum + bytes(name) + bytes(annotations[name]), 0);
}

function readNames(annotations: Annotations, others: readonly string[]): readonly string[] {
  const names = waveAnnotationNames(annotations);
  return others.length === 0 ? names : [...names, ...others.filter((name) => annotations[name] !== undefined)];
}

/** Limit of a fingerprint that is plain text: longer than a digest, and much longer than a plain opt-in, which thousands share. */
const maxPlainLength = 200;

/**
 * Returns a short text that identifies the Wave annotations and the annotations with `others` as names. Two sets of annotations have
 * the same fingerprint only if these names and values are the same.
 */
export function fingerprint(annotations: Annotations, others: readonly string[] = []): string {
  const text = JSON.stringify(readNames(annotations, others).map((name) => [name, annotations[name]]));
  return text.length <= maxPlainLength ? sharedString(text) : hash("sha256", text, "base64");
}
