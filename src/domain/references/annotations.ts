// domain/references: how workloads refer to configuration, and the names of annotations. Knows no policy, plan or kind of workload.

/** The prefix of all Wave annotations. */
export const annotationPrefix = "wave.pusher.com/";

/** Annotation of a workload or Namespace: "true" opts in. */
export const updateOnConfigChange = "wave.pusher.com/update-on-config-change";

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

/** Label of a pinned copy, with the value "true". */
export const pinnedCopyLabel = "wave.pusher.com/pinned-copy";

/** Annotation of a pinned copy: the name of its source. */
export const copyOf = "wave.pusher.com/copy-of";

/** Annotation of a pinned copy: the time since when nothing uses it, in RFC 3339. Wave deletes it an hour later. */
export const unusedSince = "wave.pusher.com/unused-since";

/** Annotation of a workload: ConfigMaps that it reads outside its pod template, as comma-separated `name` or `namespace/name`. */
export const extraConfigMaps = "wave.pusher.com/extra-configmaps";

/** Annotation of a workload: Secrets that it reads outside its pod template, as comma-separated `name` or `namespace/name`. */
export const extraSecrets = "wave.pusher.com/extra-secrets";

/** Annotation of a workload, written by Wave: the schedulerName to restore when its configuration is complete. "" is a valid value. */
export const schedulingDisabled = "wave.pusher.com/scheduling-disabled";

/** Annotation of a workload, written by Wave: the configuration that the recorded hash represents, if the hash alone does not show that. */
export const recordedConfigAnnotation = "wave.pusher.com/recorded-config";

/** Annotation of a workload, written by Wave: the number of rollouts without a quiet time between them, if more than one. */
export const consecutiveRollouts = "wave.pusher.com/consecutive-rollouts";

/** Annotation of a workload, written by Wave: the versions of SecretProviderClass objects that its recorded hash includes. */
export const providerClasses = "wave.pusher.com/secret-provider-classes";

/** Annotation of a ConfigMap or Secret: the namespaces whose workloads may name it in `extra-…`, comma-separated, or "*". */
export const sharedWith = "wave.pusher.com/shared-with";

/** The annotations that Wave writes on the metadata of workloads. policy/user-annotations.ts lists those that people write. */
export const writtenByWave: readonly string[] = [
  schedulingDisabled,
  recordedConfigAnnotation,
  providerClasses,
  consecutiveRollouts,
  rejectedConfigMaps,
];

/** The annotations that Wave writes on pod templates, beside those of hashes. */
export const writtenOnTemplates: readonly string[] = [configHash, workloadRefHash, pinnedAnnotation];
