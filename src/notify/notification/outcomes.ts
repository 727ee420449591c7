/** The outcomes of notifications, with the names of log and metrics, and the reasons of their Events. Each reason is in one row. */
export const outcomes = {
  roll: { means: "Wave rolls the workload because its configuration changed", reasons: ["ConfigChanged"] },
  complete: { means: "a rollout by Wave is complete", reasons: ["RolloutComplete"] },
  failed: {
    means: "a rollout by Wave failed: new Pods are not ready in time, or restart again and again",
    reasons: ["RolloutFailed"],
  },
  stuck: {
    means: "a new Pod does not start, because of the node, a quota, its image or a volume",
    reasons: ["RolloutStuck"],
  },
  firstHash: {
    means: "the workload got its first hash, which replaces existing Pods once",
    reasons: ["ConfigHashAdded"],
  },
  recorded: {
    means: "the current configuration was recorded as what the Pods run, without a restart",
    reasons: ["ConfigRecorded"],
  },
  cleanUp: {
    means: "Pods are scheduled again, or Wave resumed a Deployment that Reloader left paused",
    reasons: ["SchedulingEnabled", "SchedulingHoldExpired", "Unpaused"],
  },
  unproven: {
    means: "the recorded configuration is current, but the Pods may run an earlier one",
    reasons: ["ConfigUnproven"],
  },
  waiting: { means: "a required object or key is missing", reasons: ["ConfigMissing", "SchedulingDisabled"] },
  held: { means: "a rollout is due, but a hold delays it", reasons: ["RolloutHeld"] },
  halted: { means: "the rollouts of a change are halted because workloads failed with it", reasons: ["RolloutHalted"] },
  notValidated: {
    means: "a change goes on although its validator cannot check it",
    reasons: ["NotValidated"],
  },
  resolved: { means: "what failed, was stuck or was halted is complete or continues", reasons: ["RolloutResolved"] },
  annotationsLost: {
    means: "`kubectl rollout undo` changed annotations of Wave, such as a hold",
    reasons: ["AnnotationsLost", "AnnotationsKept"],
  },
  blocked: {
    means: "Kubernetes does not replace a Pod that is not ready, so a rollout needs a person",
    reasons: ["RolloutBlocked"],
  },
  flaps: {
    means: "a client changes the configuration again and again, so Wave waits longer between two rollouts",
    reasons: ["ConfigurationFlaps"],
  },
  returned: {
    means: "a rollout failed, and the workload returned to the pinned configuration before it",
    reasons: ["RolloutReturned"],
  },
  rolledBack: { means: "the workload was rolled back together with its configuration", reasons: ["RolledBack"] },
  pinning: {
    means: "new Pods of a pinned workload do not read the pinned configuration, or cannot start",
    reasons: ["Unpinned", "PinsKept", "PinnedCopiesOverLimit", "PinnedCopyLost"],
  },
  overLimit: { means: "the workload exceeds a limit of Wave", reasons: ["OverLimit"] },
  refused: { means: "the API server or an admission webhook rejects the write", reasons: ["RolloutRefused"] },
  invalid: {
    means: "an annotation or reference is invalid or has no effect",
    reasons: ["InvalidAnnotation", "CrossNamespaceRefused", "ConfigurationMissing", "OldFinalizer"],
  },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly reasons: readonly string[] }>>;

/** The outcome that a notification reports. */
export type NotifiedOutcome = keyof typeof outcomes;

/** All outcomes, in the order of the docs. */
export const outcomeNames = Object.keys(outcomes).filter(isOutcome);

/** Reports whether a text is the name of an outcome. */
export function isOutcome(name: string): name is NotifiedOutcome {
  return Object.hasOwn(outcomes, name);
}

const byReason: ReadonlyMap<string, NotifiedOutcome> = new Map(
  outcomeNames.flatMap((name) => outcomes[name].reasons.map((reason) => [reason, name])),
);

/** Returns the outcome of Events with this reason; undefined if the reason is not about configuration. */
export function outcomeOf(reason: string): NotifiedOutcome | undefined {
  return byReason.get(reason);
}
