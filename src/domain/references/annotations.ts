/** What every annotation of Wave begins with. */
export const annotationPrefix = "wave.pusher.com/";

/** On a workload: "true" opts it in. */
export const updateOnConfigChange = "wave.pusher.com/update-on-config-change";

/** On a pod template, written by Wave: the hash of the configuration that its Pods see. */
export const configHash = "wave.pusher.com/config-hash";

/**
 * On a pod template, written by Wave: the hash of the workload that borrows it, where that of the template's own workload is
 * another and stands beside it.
 */
export const workloadRefHash = "wave.pusher.com/workload-ref-hash";

/** On a workload: ConfigMaps that it reads by other ways than its pod template, `name` or `namespace/name`, by commas. */
export const extraConfigMaps = "wave.pusher.com/extra-configmaps";

/** On a workload: Secrets that it reads by other ways than its pod template, `name` or `namespace/name`, by commas. */
export const extraSecrets = "wave.pusher.com/extra-secrets";

/** On a workload, written by Wave: the schedulerName to restore when its configuration is complete ("" is a value). */
export const schedulingDisabled = "wave.pusher.com/scheduling-disabled";

/** On a workload, written by Wave: what the Pods of its recorded hash are taken to see, where that hash cannot be told. */
export const recordedConfigAnnotation = "wave.pusher.com/recorded-config";

/** On a workload, written by Wave: how many rolls came with no quiet time between them, where it was more than one. */
export const consecutiveRollouts = "wave.pusher.com/consecutive-rollouts";

/** On a workload, written by Wave: which versions of what SecretProviderClasses fetch its recorded hash is of. */
export const providerClasses = "wave.pusher.com/secret-provider-classes";

/** On a ConfigMap or Secret: the namespaces whose workloads may name it in `extra-…`, by commas, or "*". */
export const sharedWith = "wave.pusher.com/shared-with";

/** What Wave itself writes on the metadata of a workload; policy/written-by-people.ts has what people write. */
export const writtenByWave: readonly string[] = [
  schedulingDisabled,
  recordedConfigAnnotation,
  providerClasses,
  consecutiveRollouts,
];
