import type { Event } from "#kubernetes";
import type { KubeList, KubeObject } from "../api/api-types.ts";
import { isForbidden } from "../api/errors.ts";
import { resourcePath, resources } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";

/** Which Event is read. */
interface EventOfObject {
  readonly namespace: string;
  /** The uid of the object that the Event is about. */
  readonly uid: string;
  readonly reason: string;
  /** The earliest time of the Event, in milliseconds since the epoch. */
  readonly since: number;
}

/** Limit of Events of one object and reason. Kubernetes counts repeated Events in one. */
const maxRead = 50;

/** Returns the message of the newest Event of an object; undefined if there is none, or without permission to list Events. */
export async function eventMessage(
  client: Pick<ApiClient, "request">,
  { namespace, uid, reason, since }: EventOfObject,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const path = resourcePath(resources.events, { namespace });
  const query = { fieldSelector: `involvedObject.uid=${uid},reason=${reason}`, limit: maxRead };
  try {
    const list = await client.request<KubeList<KubeObject & Event>>({
      method: "GET",
      path,
      query,
      ...(signal && { signal }),
    });
    const events = (list.items ?? []).map((each) => ({ at: timeOf(each), message: each.message }));
    return events.filter(({ at }) => at >= since).toSorted((a, b) => b.at - a.at)[0]?.message;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

function timeOf({ lastTimestamp, series, eventTime }: Event): number {
  return Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? "") || 0;
}
