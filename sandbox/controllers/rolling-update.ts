import { type Json, type JsonObject, objectOf } from "../objects/json.ts";

/** A ReplicaSet as a rolling update counts it. */
export interface Replicas {
  readonly name: string;
  /** The wanted number of replicas. */
  readonly desired: number;
  readonly available: number;
}

/** How far a Deployment may go beyond and below its number of replicas. */
export interface Bounds {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Reads a Deployment's strategy: numbers or percentages, surge rounded up and unavailability down, not both 0. */
export function boundsOf(strategy: JsonObject, replicas: number): Bounds {
  const { maxSurge, maxUnavailable } = objectOf(strategy.rollingUpdate);
  const surge = amount(maxSurge, replicas, Math.ceil);
  const unavailable = amount(maxUnavailable, replicas, Math.floor);
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

function amount(value: Json | undefined, replicas: number, round: (value: number) => number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(String(value ?? ""));
  return percent === null ? 0 : round((Number(percent[1]) * replicas) / 100);
}

/**
 * Returns the number of replicas of each ReplicaSet after the next step of a rolling update. A step adds no replica above `replicas`
 * plus the surge, and removes no available replica below `replicas` minus the unavailable ones.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
 */
export function nextReplicas(
  replicas: number,
  bounds: Bounds,
  current: Replicas,
  old: readonly Replicas[],
): ReadonlyMap<string, number> {
  const next = new Map<string, number>();
  const total = current.desired + sum(old, ({ desired }) => desired);
  const room = replicas + bounds.maxSurge - total;
  const wanted = current.desired > replicas ? replicas : Math.min(replicas, current.desired + Math.max(0, room));
  next.set(current.name, wanted);
  const minAvailable = replicas - bounds.maxUnavailable;
  // Replicas of the new ReplicaSet that are wanted but do not exist yet must not be relied on.
  let spare = total - minAvailable - (current.desired - current.available);
  for (const { name, desired, available } of old) {
    const unhealthy = Math.min(Math.max(0, spare), desired - available);
    next.set(name, desired - unhealthy);
    spare -= unhealthy;
  }
  let removable = current.available + sum(old, ({ available }) => available) - minAvailable;
  for (const { name, available } of old) {
    const left = next.get(name) ?? 0;
    const removed = Math.max(0, Math.min(removable, spare, left, available));
    next.set(name, left - removed);
    removable -= removed;
    spare -= removed;
  }
  return next;
}

function sum(items: readonly Replicas[], of: (item: Replicas) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
