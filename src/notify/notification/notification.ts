// Notifications: outcomes, text and template of a message, made from Events. Pure.
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import { printable } from "../../lib/printable.ts";

/** A notification has the content of one Event and nothing else. Every text is one printable line. */
export interface Notification {
  readonly outcome: NotifiedOutcome;
  readonly type: ObjectEvent["type"];
  readonly reason: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
  /** Time of the Event, as RFC 3339 in UTC. */
  readonly time: string;
}

/** Returns the notification of an Event; undefined if the Event is not about configuration. `now` is milliseconds since the epoch. */
export function notificationOf(
  { regarding, type, reason, message }: ObjectEvent,
  now: number,
): Notification | undefined {
  // The Event on the workload has the same content.
  if (regarding.kind === "Pod") return undefined;
  const outcome = outcomeOf(reason);
  if (outcome === undefined) return undefined;
  const { kind } = regarding;
  const [namespace, name, shown] = [printable(regarding.namespace), printable(regarding.name), printable(message)];
  const time = new Date(now).toISOString();
  return { outcome, type, reason, kind, namespace, name, message: shown, time };
}

/** The number of notifications of a namespace that were not sent. */
export interface UnsentCount {
  /** Undefined: the sum of all namespaces without a separate count. */
  readonly namespace: string | undefined;
  readonly count: number;
}

/** A notification with the rendered text. */
export interface NotificationMessage {
  /** Unique id. A retry has the same id. */
  readonly id: string;
  readonly notification: Notification;
  /** Text for people, escaped for the receiver. Only the template can contain formatting. */
  readonly text: string;
  /** Notifications before this one that were not sent. */
  readonly unsent: readonly UnsentCount[];
}

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
function outcomeOf(reason: string): NotifiedOutcome | undefined {
  return byReason.get(reason);
}
