import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { fieldsOf } from "../../../domain/syntax/json.ts";
import { type Style, sentences } from "../../output/sentences.ts";

/** The meaning of a workload state, and the next step of the person who sees it. */
interface StateRow {
  /** The color. Red needs a person; yellow ends by itself or is intended. */
  readonly style: Style;
  readonly means: string;
  /** Imperative sentences; "" if there is nothing to do. */
  readonly next: string;
}

/** Every state of a workload, in the order of the docs and of `wave help states`. */
export const workloadStates = {
  current: { style: "green", means: "Every Pod runs with the current configuration.", next: "" },
  rolling: {
    style: "cyan",
    means: "Kubernetes is replacing Pods, or waits until new Pods are available.",
    next: "Wait. Follow the progress with kubectl rollout status.",
  },
  due: {
    style: "cyan",
    means: "A rollout is due now.",
    next: "Wait some seconds. If the state stays due, read the Events of the workload, then run wave doctor.",
  },
  held: {
    style: "yellow",
    means: "A rollout is due, but a hold applies: a window, a batch, an approval or a person.",
    next: "Run wave explain to see what ends the hold.",
  },
  waiting: {
    style: "red",
    means: "A ConfigMap, Secret or key that the Pods require is missing. Running Pods are not changed.",
    next: "Create the missing object or key.",
  },
  stuck: {
    style: "yellow",
    means:
      "A new Pod does not start for a reason outside of its configuration: no room on a node, a quota, an image or a volume. Nothing is halted.",
    next: "Make room, raise the quota, or repair the image or volume. The rollout then continues by itself.",
  },
  failed: {
    style: "red",
    means: "The last rollout failed or exceeded its time limit.",
    next: "Check the new Pods with kubectl describe, then fix the workload or its configuration.",
  },
  unproven: {
    style: "yellow",
    means:
      "The recorded configuration is current, but the Pods may run an earlier one: they are not newer than its last change.",
    next: "Run wave roll to restart the Pods.",
  },
  behind: {
    style: "yellow",
    means: "The hash is current, but Kubernetes keeps old Pods: paused, OnDelete or a partition.",
    next: "Unpause the workload, change its update strategy, or delete the old Pods.",
  },
  rolledBack: {
    style: "yellow",
    means: "A change of a ConfigMap was rolled back. Pods read the content before that change.",
    next: "Edit the ConfigMap again, or run wave resume to roll to its content.",
  },
  overLimit: {
    style: "red",
    means: "The workload exceeds a limit of Wave, so Wave does not roll it.",
    next: "Reference fewer objects or keys. Limits: wave help kinds.",
  },
  unknown: {
    style: "yellow",
    means: "Something that the state depends on could not be read, usually for lack of permission.",
    next: "Run wave explain to see what is missing, and grant that permission.",
  },
  ignored: {
    style: "dim",
    means: "Wave ignores the workload: it has not opted in, its namespace is not watched, or it is being deleted.",
    next: 'To opt in, set the annotation wave.pusher.com/update-on-config-change: "true".',
  },
} as const satisfies Readonly<Record<string, StateRow>>;

/** The name of a state of a workload, the same in all commands. */
export type WorkloadStateName = keyof typeof workloadStates;

/** Reports whether a word is the name of a state. */
export function isStateName(word: string): word is WorkloadStateName {
  return Object.hasOwn(workloadStates, word);
}

/**
 * Returns the next step of the person who sees a state; "" if there is none. `optIn` is that of the explanation: Wave may ignore a workload for
 * another reason, for example because it is being deleted.
 */
export function nextOfState(state: WorkloadStateName, optIn: string): string {
  const isIgnoredAnyway = state === "ignored" && optIn !== "out" && optIn !== "unclear";
  return isIgnoredAnyway ? "" : workloadStates[state].next;
}

/** The names of all states, in the order of the docs. `wave list --state` accepts these names. */
export const workloadStateNames = Object.keys(workloadStates) as readonly WorkloadStateName[];

/** The meaning of each state, for `wave list --help-all`. */
export const meaningOfStates: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(workloadStates).map(([state, { means }]) => [state, means]),
);

/** Why Kubernetes cannot create or replace the Pods of a workload, in the words of Kubernetes. */
export interface KubernetesReason {
  /** One word: "FailedCreate". */
  readonly reason: string;
  /** The message of Kubernetes: `pods "web-6f" is forbidden: exceeded quota: …`. */
  readonly message: string;
}

/**
 * The conditions that report a failure, nearest to the cause first: a quota, policy or webhook that rejects Pods comes before its
 * consequences. They exist on Deployments and Rollouts
 * (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#failed-deployment) and on CloneSets.
 */
const failureConditions = [
  { type: "ReplicaFailure", status: "True" },
  { type: "FailedScale", status: "True" },
  { type: "FailedUpdate", status: "True" },
  { type: "Progressing", status: "False" },
] as const;

/** In characters: an admission webhook may reject a Pod with a whole page of text. */
const mostShown = 400;

/** Returns the failure that the status of a workload reports; null if its conditions report no failure. */
export function kubernetesReasonOf(object: WorkloadObject): KubernetesReason | null {
  const all = conditionsOf(object);
  for (const row of failureConditions) {
    const condition = all.find(({ type, status }) => type === row.type && status === row.status);
    if (condition === undefined) continue;
    const { reason, message } = condition;
    return boundedReason(reason || row.type, message);
  }
  return null;
}

/** Returns the reason as one line: `FailedCreate: pods "web-6f" is forbidden: …`. */
export function describeKubernetesReason({ reason, message }: KubernetesReason): string {
  return message === "" ? reason : `${reason}: ${message}`;
}

/** Returns a sentence of Wave, followed by the reason of Kubernetes if there is one. */
export function withKubernetesReason(line: string, kubernetes: KubernetesReason | null): string {
  return sentences(line, kubernetes === null ? "" : describeKubernetesReason(kubernetes));
}

/** Returns the one-word reason of Kubernetes; undefined if there is none, or if Wave has its own word for it, as for a deadline. */
export function kubernetesWord(kubernetes: KubernetesReason | null): string | undefined {
  return kubernetes === null || kubernetes.reason === "ProgressDeadlineExceeded" ? undefined : kubernetes.reason;
}

/** A condition of a workload; a field that is absent is "". */
type Condition = Readonly<Record<"type" | "status" | "reason" | "message" | "lastUpdateTime", string>>;

/** Returns the conditions in the status of a workload. The status of a custom resource may have any content; malformed parts are left out. */
export function conditionsOf({ status }: WorkloadObject): readonly Condition[] {
  const { conditions } = fieldsOf(status);
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return all.map((each) => {
    const fields = fieldsOf(each);
    const text = (name: keyof Condition) => (typeof fields[name] === "string" ? fields[name] : "");
    const [type, status] = [text("type"), text("status")];
    return { type, status, reason: text("reason"), message: text("message"), lastUpdateTime: text("lastUpdateTime") };
  });
}

/** Returns a reason with at most 400 characters of its message, without the final full stop. */
export function boundedReason(reason: string, text: string): KubernetesReason {
  const message = text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`;
  return { reason, message: message.replace(/\.$/, "") };
}
