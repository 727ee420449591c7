/**
 * What people can be told of, in the words of the log and of metrics, and the reasons of the Events that tell it on the object; each
 * reason in one row.
 */
export const outcomes = {
  roll: { means: "new configuration, and new Pods for it", reasons: ["ConfigChanged"] },
  recordedConfig: {
    means: "a workload got its first hash, so new Pods where it had some",
    reasons: ["ConfigHashAdded"],
  },
  recorded: { means: "what is there was noted as what Pods see, without new ones", reasons: ["ConfigRecorded"] },
  cleanUp: {
    means: "Pods are scheduled again, or a Deployment was resumed that Reloader left paused",
    reasons: ["SchedulingEnabled", "Resumed"],
  },
  waiting: { means: "something required is missing", reasons: ["ConfigMissing", "SchedulingDisabled"] },
  held: { means: "a roll is due, but may not happen yet", reasons: ["RolloutHeld"] },
  halted: { means: "a change is rolled no further, because workloads failed with it", reasons: ["RolloutHalted"] },
  overLimit: { means: "a workload asks for more than one object may cost", reasons: ["OverLimit"] },
  refused: { means: "the API server, or something that it asks, refuses the write", reasons: ["RolloutFailed"] },
  mistaken: {
    means: "an annotation or reference is not what its author meant",
    reasons: ["InvalidAnnotation", "CrossNamespaceRefused", "ConfigurationMissing", "OldFinalizer"],
  },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly reasons: readonly string[] }>>;

/** What a notification is about. */
export type NotifiedOutcome = keyof typeof outcomes;

/** All of them, in the order in which they are listed. */
export const outcomeNames = Object.keys(outcomes).filter(isOutcome);

/** Whether a text names one. */
export function isOutcome(name: string): name is NotifiedOutcome {
  return Object.hasOwn(outcomes, name);
}

const byReason: ReadonlyMap<string, NotifiedOutcome> = new Map(
  outcomeNames.flatMap((name) => outcomes[name].reasons.map((reason) => [reason, name])),
);

/** What an Event of this reason tells; undefined for one that is no matter of a workload's configuration. */
export function outcomeOf(reason: string): NotifiedOutcome | undefined {
  return byReason.get(reason);
}
