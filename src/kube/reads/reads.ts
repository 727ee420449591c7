// Single reads that several callers share. Knows requests and resources, and no workload or plan.

import type { Event } from "#kubernetes";
import { isForbidden, isNotFound } from "../api/api-failure.ts";
import type { KubeList, KubeObject } from "../api/api-types.ts";
import { resourcePath, resources } from "../api/resources.ts";
import type { ApiRequest } from "../http/api-request.ts";
import type { ApiClient } from "../http/client.ts";

/** Sends a GET and returns the object; undefined if it does not exist. Throws what {@link ApiClient.request} throws, except 404. */
export async function getIfExists<T>(
  client: Pick<ApiClient, "request">,
  request: Omit<ApiRequest, "method" | "body">,
): Promise<T | undefined> {
  try {
    return await client.request<T>({ method: "GET", ...request });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

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
