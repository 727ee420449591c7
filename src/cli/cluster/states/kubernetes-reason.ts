import type { WorkloadObject } from "../../../domain/model/workload.ts";
import { fieldsOf } from "../../../domain/syntax/unknown-fields.ts";
import { sentences } from "../../output/sentences.ts";

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

/**
 * Returns the one-word reason of Kubernetes; undefined if there is no reason, or if Wave has its own word for the reason, as for an
 * exceeded deadline.
 */
export function kubernetesWord(kubernetes: KubernetesReason | null): string | undefined {
  return kubernetes === null || kubernetes.reason === "ProgressDeadlineExceeded" ? undefined : kubernetes.reason;
}

/** A condition of a workload; a field that is absent is "". */
export type Condition = Readonly<Record<"type" | "status" | "reason" | "message" | "lastUpdateTime", string>>;

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
