import { fieldsOf } from "../../domain/model/kinds/replica-counts.ts";
import type { WorkloadObject } from "../../domain/model/workload.ts";

/** What Kubernetes itself says of a workload whose Pods it cannot make or replace. */
export interface KubernetesReason {
  /** One word: "FailedCreate". */
  readonly reason: string;
  /** Its own line: `pods "web-6f" is forbidden: exceeded quota: …`. */
  readonly message: string;
}

/**
 * The conditions that tell of it, the nearest to the cause first: a quota, a policy or a webhook that refuses Pods, and after that
 * what came of it. Of Deployments and Rollouts
 * (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#failed-deployment), and of CloneSets.
 */
const telling = [
  { type: "ReplicaFailure", status: "True" },
  { type: "FailedScale", status: "True" },
  { type: "FailedUpdate", status: "True" },
  { type: "Progressing", status: "False" },
] as const;

/** An admission webhook may refuse with a page. Characters. */
const mostShown = 400;

/** What the status of a workload says, of whatever kind; null where it says nothing. */
export function kubernetesReasonOf(object: WorkloadObject): KubernetesReason | null {
  const all = conditionsOf(object);
  for (const row of telling) {
    const said = all.find(({ type, status }) => type === row.type && status === row.status);
    if (said === undefined) continue;
    const { reason, message } = said;
    return boundedReason(reason || row.type, message);
  }
  return null;
}

/** The same in one line for a person: `FailedCreate: pods "web-6f" is forbidden: …`. */
export function describeKubernetesReason({ reason, message }: KubernetesReason): string {
  return message === "" ? reason : `${reason}: ${message}`;
}

/** A line of Wave's, with what Kubernetes says behind it. */
export function withKubernetesReason(line: string, kubernetes: KubernetesReason | null): string {
  return [line, kubernetes === null ? "" : describeKubernetesReason(kubernetes)].filter((each) => each !== "").join("; ");
}

/**
 * Kubernetes' own word for what keeps it from making Pods; undefined where there is none, or where Wave has a word of
 * its own, as for a deadline that is exceeded.
 */
export function kubernetesWord(kubernetes: KubernetesReason | null): string | undefined {
  return kubernetes === null || kubernetes.reason === "ProgressDeadlineExceeded" ? undefined : kubernetes.reason;
}

/** A condition of a workload; "" where it does not say. */
export type Condition = Readonly<Record<"type" | "status" | "reason" | "message" | "lastUpdateTime", string>>;

/** The conditions of a workload of any kind: custom resources have in their status what their definition lets through. */
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

/** What somebody else wrote, as far as it is shown; without its full stop, since more may follow. */
export function boundedReason(reason: string, text: string): KubernetesReason {
  const message = text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`;
  return { reason, message: message.replace(/\.$/, "") };
}
