import type { Lease, LeaseSpec } from "kubernetes-types/coordination/v1.d.ts";
import type { ApiRequest } from "../kube/api-request.ts";
import type { ApiClient } from "../kube/client.ts";
import { ApiError, ConnectionError, isAlreadyExists, isConflict, isForbidden, isNotFound } from "../kube/errors.ts";
import { resourcePath, resources } from "../kube/resources.ts";
import type { Clock } from "../lib/clock.ts";

/** How long to wait for one request. */
export interface Patience {
  readonly timeoutMs: number;
  /** Ends the waiting early. Its reason is what the request then rejects with. */
  readonly signal?: AbortSignal;
}

/** The three requests of leader election: get, create and update of one Lease. */
export interface LeaseApi {
  /** "namespace/name", for messages. */
  readonly description: string;
  /** The Lease, or undefined where there is none. */
  readonly read: (patience: Patience) => Promise<Lease | undefined>;
  /** The Lease as it was created, or undefined where there is one by now. */
  readonly create: (spec: LeaseSpec, patience: Patience) => Promise<Lease | undefined>;
  /** The Lease as it was written, or undefined where it is no longer `observed`, which then stays as it is. */
  readonly update: (observed: Lease, spec: LeaseSpec, patience: Patience) => Promise<Lease | undefined>;
}

/**
 * Each request settles within its `timeoutMs` whatever the client and the network do, with an error that says what is
 * missing where it is not allowed.
 */
export function createLeaseApi(options: {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
}): LeaseApi {
  const { client, clock, namespace, name } = options;
  const description = `${namespace}/${name}`;
  const path = resourcePath(resources.leases, { namespace, name });
  const { apiVersion, kind } = resources.leases;

  const send = async (request: ApiRequest, { timeoutMs, signal }: Patience): Promise<Lease> => {
    try {
      return await within(clock, timeoutMs, signal, (both) =>
        client.request<Lease>({ ...request, timeoutMs, signal: both }),
      );
    } catch (error) {
      throw explain(error, description, namespace);
    }
  };

  return {
    description,
    read: (patience) => send({ method: "GET", path }, patience).catch(unless(isNotFound)),
    create: (spec, patience) =>
      send(
        {
          method: "POST",
          path: resourcePath(resources.leases, { namespace }),
          body: { apiVersion, kind, metadata: { namespace, name }, spec },
        },
        patience,
      ).catch(unless(isAlreadyExists)),
    // With the uid: a PUT that has only a resourceVersion creates the Lease anew if it was deleted meanwhile.
    update: ({ metadata }, spec, patience) =>
      send({ method: "PUT", path, body: { apiVersion, kind, metadata, spec } }, patience).catch(
        unless((error) => isConflict(error) || isNotFound(error)),
      ),
  };
}

/** For `catch`: undefined for an error that is an answer, any other is thrown on. */
function unless(expected: (error: unknown) => boolean): (error: unknown) => undefined {
  return (error) => {
    if (expected(error)) return undefined;
    throw error;
  };
}

/** What the person who installs Wave can do about it. */
function explain(error: unknown, lease: string, namespace: string): unknown {
  if (!(error instanceof ApiError) || !isForbidden(error)) return error;
  return new Error(
    `leader election needs get, create and update on the Lease ${lease}: grant them by a Role in namespace ${namespace}, or name another Lease by --leader-election-namespace and --leader-election-id`,
    { cause: error },
  );
}

/** `work`, or a rejection after `ms` or when `signal` is aborted, even if `work` never settles. */
async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const end = new AbortController();
  const cancel = clock.timer(ms, () => end.abort(new ConnectionError(`no answer within ${(ms / 1_000).toFixed(1)}s`)));
  const onAbort = () => end.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const ended = new Promise<never>((_, reject) => {
    end.signal.addEventListener("abort", () => reject(end.signal.reason), { once: true });
  });
  try {
    return await Promise.race([work(end.signal), ended]);
  } finally {
    cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}
