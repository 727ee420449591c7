import type { Pod } from "#kubernetes";
import { pinsOfPod, pointPod } from "../../domain/pinning/point-pod.ts";
import type { JsonPatch } from "../../domain/syntax/json-patch.ts";
import type { AdmissionRequest } from "../server/review.ts";

/** The result of a review of a Pod. Wave reads nothing for it and never denies it. */
export interface PodReview {
  readonly patch: JsonPatch | undefined;
  readonly warnings: readonly [];
  readonly outcome: "pointed" | "current";
}

/** Reports whether a request creates a Pod. */
export function createsPod({ kind, operation, subResource, object }: AdmissionRequest): boolean {
  const isPod = kind.group === "" && kind.kind === "Pod";
  return isPod && operation === "CREATE" && subResource === "" && object !== undefined;
}

/** Points a new Pod at its pinned copies. A Pod with malformed pins stays as it is, so that it reads live configuration. */
export function reviewPod({ object }: AdmissionRequest): PodReview {
  // The API server has checked the types.
  const pod = object as Pod;
  const pins = pinsOfPod(pod);
  const patch = pins && pointPod(pod, pins);
  return patch === undefined || patch.length === 0
    ? { patch: undefined, warnings: [], outcome: "current" }
    : { patch, warnings: [], outcome: "pointed" };
}
