import { fieldsOf, textOf } from "../syntax/json.ts";
import { quoted } from "../syntax/wording.ts";

/**
 * Why a Pod does not start for a reason outside of its configuration, in the words of the scheduler, the quota or the kubelet. Other messages
 * of Kubernetes are never used: a webhook may write anything into them.
 */
export interface StuckReason {
  /** One word: "Unschedulable". */
  readonly reason: string;
  /** One line: `0/3 nodes are available: 3 Insufficient memory`. */
  readonly message: string;
}

/** The reasons of the kubelet for an image that it cannot pull (https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff). */
const imageReasons: readonly (string | undefined)[] = [
  "ErrImageNeverPull",
  "ErrImagePull",
  "ImageInspectError",
  "ImagePullBackOff",
  "InvalidImageName",
  "RegistryUnavailable",
  "SignatureValidationFailed",
];

/** Reports whether a reason of a container that waits is that its image was not pulled. */
export function isImageReason(reason: string | undefined): boolean {
  return imageReasons.includes(reason);
}

/** The reason of Events about a Pod whose volume is not attached to its node. */
export const volumeReason = "FailedAttachVolume";

/** The reason of conditions, and of Events on a StatefulSet or DaemonSet, if the API server rejects a Pod. */
export const refusedReason = "FailedCreate";

/** In characters: a scheduler writes one clause for each kind of node. */
const mostShown = 300;

/** Returns a reason with at most 300 characters of its message, on one line and without the final full stop. */
export function stuckReason(reason = "", text = ""): StuckReason {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
  const message = line.length <= mostShown ? line : `${line.slice(0, mostShown - 1)}…`;
  return { reason, message: message.replace(/\.$/, "") };
}

/** Returns why the API server rejects Pods if the cause is a quota; undefined for other causes. `message` is that of a condition or an Event. */
export function quotaReason(message: string | undefined): StuckReason | undefined {
  return message?.includes("exceeded quota: ") ? stuckReason(refusedReason, message) : undefined;
}

/** Returns why the API server rejects the Pods of a Deployment if the cause is a quota, by its status; undefined for other causes. */
export function quotaReasonOf(status: unknown): StuckReason | undefined {
  const { conditions } = fieldsOf(status);
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const failure = all.map(fieldsOf).find(({ type, status }) => type === "ReplicaFailure" && status === "True");
  return quotaReason(textOf(failure?.message));
}

/** Returns the reason as a clause: `Pod "web-0" does not start (Unschedulable: 0/3 nodes are available)`. Without a Pod, Kubernetes creates none. */
export function describeStuck({ pod, reason, message }: StuckReason & { readonly pod: string | undefined }): string {
  const what = pod === undefined ? "Kubernetes creates no new Pod" : `Pod ${quoted(pod)} does not start`;
  return `${what} (${message === "" ? reason : `${reason}: ${message}`})`;
}
