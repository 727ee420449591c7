// Sends the requests of commands: bounded, in pages, and with the permission that a failed read lacks. It knows no kind.

import { apiFailureOf, isForbidden, isNotFound } from "../../kube/api/api-failure.ts";
import { type KubeObject, type Resource, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { pagedList } from "../../kube/list-watch/paged-list.ts";
import { systemClock } from "../../lib/clock.ts";
import { SlotPool } from "../../lib/slot-pool.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";

/** The cause of a failed read. */
export interface ReadFailure {
  /** One line: "you do not have permission to list pods in shop", or the error. */
  readonly unread: string;
  /** The permissions that the read needs and the user lacks: "list pods in shop". */
  readonly needs: readonly string[];
}

/** The result of a read, or the cause of its failure. */
export type ReadResult<T> = { readonly read: T } | ReadFailure;

/** Runs a read that needs a permission, such as "list pods in shop". A failure names the permission that is missing. Never rejects. */
export async function tryRead<T>(permission: string, read: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { read: await read() };
  } catch (error) {
    return toReadFailure(permission, error);
  }
}

/** Returns the failure of a read that needs a permission. */
export function toReadFailure(permission: string, error: unknown): ReadFailure {
  return isForbidden(error)
    ? { unread: `you do not have permission to ${permission}`, needs: [permission] }
    : { unread: `the request failed: ${errorText(error)}`, needs: [] };
}

/** Returns the scope of a request for messages: `in shop` or `in all namespaces`. */
export function inScope(namespace: string | undefined): string {
  return namespace === undefined ? "in all namespaces" : `in ${namespace}`;
}

/** Lists as {@link listAll} does; a resource that is not served is empty. A failure names the missing permission. Never rejects. */
export function tryList<T extends KubeObject, K>(
  client: ApiClient,
  resource: Resource,
  scope: ListScope,
  keep: (object: T) => Awaitable<K | undefined>,
): Promise<ReadResult<readonly K[]>> {
  const where = resource.namespaced ? ` ${inScope(scope.namespace)}` : "";
  return tryRead(`list ${resource.plural}${where}`, async () => {
    try {
      return await listAll(client, resource, scope, keep);
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  });
}

type Awaitable<T> = T | Promise<T>;

/** The objects that a list contains. */
export interface ListScope {
  /** Undefined: all namespaces, or a resource without namespaces. */
  readonly namespace?: string | undefined;
  /** In the syntax of `kubectl -l`; the API server validates it. */
  readonly labelSelector?: string | undefined;
  /** In the syntax of `kubectl --field-selector`. */
  readonly fieldSelector?: string | undefined;
  /** The representation, such as {@link metadataOnlyList}; undefined: whole objects. */
  readonly accept?: string | undefined;
  /** Receives the time of each answer by the clock of the API server, in seconds since the epoch; undefined if unknown. */
  readonly answered?: ((at: number | undefined) => void) | undefined;
}

/** Lists in pages and returns the defined results of `keep`, never thousands of Secrets at once. Throws as {@link ApiClient.stream}. */
export async function listAll<T extends KubeObject, K>(
  client: ApiClient,
  resource: Resource,
  { namespace, labelSelector, fieldSelector, accept, answered }: ListScope,
  keep: (object: T) => Awaitable<K | undefined>,
): Promise<readonly K[]> {
  let kept: K[] = [];
  const pages = pagedList<T>({
    client,
    path: resourcePath(resource, { namespace }),
    what: namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`,
    labelSelector,
    fieldSelector,
    accept,
    ...(answered && { answered }),
    clock: systemClock,
    log: silentLogger,
    signal: new AbortController().signal,
  });
  for await (const event of pages) {
    // The continue token expired: the list starts again.
    if (event.type === "init") kept = [];
    if (event.type !== "initApply") continue;
    const one = await keep(event.object);
    if (one !== undefined) kept.push(one);
  }
  return kept;
}

/** How many requests one call has in flight: enough to be fast, few enough not to disturb other clients of the API server. */
const atOnce = 8;

/** Returns the results of `read` for all items, in their order, with at most {@link atOnce} running at a time. Rejects with the first rejection. */
export function mapBounded<T, R>(all: readonly T[], read: (one: T) => Promise<R>): Promise<readonly R[]> {
  const lane = new SlotPool(atOnce);
  const { signal } = new AbortController();
  return Promise.all(
    all.map(async (one) => {
      using _place = await lane.acquire(signal);
      return read(one);
    }),
  );
}

/** Returns whether a read that failed may succeed later: the API server is unreachable or busy. */
export function mayRecover(error: unknown): boolean {
  const type = apiFailureOf(error)?.type;
  return type === "unavailable" || type === "tooManyRequests";
}
