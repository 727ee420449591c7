import type { ObservedPod } from "./observed-pod.ts";

/** How long volumes are set up in most cases, in milliseconds: until then, a Pod may still start. */
const volumesMs = 30_000;

/**
 * Reports whether a Pod that references an object that does not exist waits for this object: the kubelet cannot resolve its `env`, or cannot
 * mount its volumes. `now` is in milliseconds since the epoch.
 */
export function waitsForConfig({ ending, notReadyReason, createdAt }: ObservedPod, now: number): boolean {
  if (ending) return false;
  if (notReadyReason === "CreateContainerConfigError") return true;
  return notReadyReason === "ContainerCreating" && createdAt + volumesMs <= now;
}
