import type { Event } from "#kubernetes";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../requests.ts";

/** An Event that Wave wrote. Kubernetes keeps Events for an hour by default. */
export interface WaveEvent {
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  /** When it happened first and last, in milliseconds since the epoch. */
  readonly at: number;
  readonly lastAt: number;
}

/** The reason of the Event about a new leader. */
export const leaderReason = "LeaderElection";

/** Lists Wave's Events about one object or any, with one reason or any, the oldest first. Throws what {@link ApiClient.stream} throws. */
export async function readWaveEvents(
  client: ApiClient,
  {
    namespace,
    uid,
    reason,
  }: { readonly namespace: string | undefined; readonly uid?: string; readonly reason?: string },
): Promise<readonly WaveEvent[]> {
  const fields = { source: "wave", "involvedObject.uid": uid, reason };
  const given = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [`${field}=${value}`]));
  const scope = { namespace, fieldSelector: given.join(",") };
  const found = await listAll<KubeObject & Event, WaveEvent>(client, resources.events, scope, toWaveEvent);
  return found.toSorted((a, b) => a.at - b.at);
}

function toWaveEvent({ metadata, involvedObject, reason = "", message = "", ...event }: KubeObject & Event): WaveEvent {
  const { kind = "", namespace = metadata.namespace ?? "", name = "", uid = "" } = involvedObject;
  const time = (text: string | undefined) =>
    Date.parse(text ?? event.eventTime ?? metadata.creationTimestamp ?? "") || 0;
  return {
    uid,
    kind,
    namespace,
    name,
    reason,
    message,
    at: time(event.firstTimestamp),
    lastAt: time(event.lastTimestamp),
  };
}

/** How a rollout ended. */
export interface RolloutEnd {
  readonly result: "complete" | "failed";
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Why it failed, as a clause; undefined if it did not fail, or if that is not known. */
  readonly why: string | undefined;
}

const endReasons: Readonly<Record<string, RolloutEnd["result"]>> = {
  RolloutComplete: "complete",
  RolloutResolved: "complete",
  RolloutFailed: "failed",
};

/** Returns how a rollout ended that started at `from` and was the last one until `until`; undefined if no Event shows it. `events` are about its workload. */
export function endOf(
  events: readonly WaveEvent[],
  from: number,
  until = Number.POSITIVE_INFINITY,
): RolloutEnd | undefined {
  const last = events.findLast(({ reason, at }) => endReasons[reason] !== undefined && at >= from && at < until);
  const result = last && endReasons[last.reason];
  if (last === undefined || result === undefined) return undefined;
  const why = /^Rollout failed after [^:]+: (.+?)\. It started because /.exec(last.message)?.[1];
  return { result, at: last.at, why: result === "failed" ? why : undefined };
}

/** Returns how the last rollout of a workload ended, by its status; undefined if the status does not show it. */
export function completeNow({ progress }: Workload, startedAt: number): RolloutEnd | undefined {
  if (progress.state !== "complete" || progress.since === undefined || progress.since * 1000 < startedAt)
    return undefined;
  return { result: "complete", at: progress.since * 1000, why: undefined };
}

/** Returns a time in milliseconds since the epoch as RFC 3339, to the second. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
