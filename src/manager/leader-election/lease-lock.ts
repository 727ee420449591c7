import type { Lease, LeaseSpec } from "#kubernetes";
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from "../../kube/api/api-failure.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/write-permits.ts";
import {
  type ElectionTimings,
  type LeaseCandidate,
  type LeaseMoment,
  type LeaseObservation,
  nextLeaseStep,
  observeLease,
} from "./lease.ts";

type LeaseAttempt =
  /**
   * Written by a request that was sent at `sentAt`, so no replica saw it earlier. A process that does not lead yet may lead after
   * `ms` milliseconds if it still holds the Lease.
   */
  | { readonly written: true; readonly sentAt: LeaseMoment; readonly ms: number }
  /** Another replica holds the Lease for at least `ms` more milliseconds. */
  | { readonly written: false; readonly ms: number };

/** The Lease, and the replica that takes part in its election. */
export interface LeaseLockOptions extends ElectionTimings {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Unique identity of this process. */
  readonly identity: string;
  /** Returns what a renewal writes into annotations of the Lease; undefined removes one. Default: nothing. */
  readonly annotations?: (() => Readonly<Record<string, string | undefined>>) | undefined;
}

/** Maximum number of writes per attempt. After a conflict the next one uses the newest Lease. */
const maxConflicts = 4;

/** Returns the Lease as one process sees and changes it, only with get, create and update. Calls must not overlap. */
export function createLeaseLock(options: LeaseLockOptions) {
  const { client, clock, namespace, name, identity } = options;
  const description = `${namespace}/${name}`;
  const { apiVersion, kind } = resources.leases;
  let observation: LeaseObservation | undefined;

  const record = (lease: Lease | undefined): LeaseObservation => {
    observation = observeLease(observation, lease, clock.monotonic(), options);
    return observation;
  };
  /** Returns the Lease after the request; undefined if it does not exist or has changed. */
  const send = async (request: Omit<ApiRequest, "path">): Promise<Lease | undefined> => {
    const creates = request.method === "POST";
    const path = resourcePath(resources.leases, creates ? { namespace } : { namespace, name });
    try {
      return await client.request<Lease>({ ...request, path });
    } catch (error) {
      if (creates ? isAlreadyExists(error) : isNotFound(error) || isConflict(error)) return undefined;
      throw isForbidden(error) ? new Error(missingPermission(namespace, name), { cause: error }) : error;
    }
  };
  const write = (over: Lease | undefined, spec: LeaseSpec, renews: boolean, timeoutMs: number) => {
    // With the uid: a PUT with only a resourceVersion creates the Lease again if it was deleted meanwhile.
    const { metadata = { namespace, name } } = over ?? {};
    const annotations = renews && options.annotations && { ...metadata.annotations, ...options.annotations() };
    const body = { apiVersion, kind, metadata: annotations ? { ...metadata, annotations } : metadata, spec };
    return send({ method: over === undefined ? "POST" : "PUT", body, timeoutMs });
  };

  return {
    /** "namespace/name", for messages. */
    description,
    /** Returns the last read; undefined before the first one. */
    observation: () => observation,
    /**
     * Writes what the rules of `nextLeaseStep` allow. To acquire the Lease it reads first; otherwise the first write uses the last
     * read. `signal` aborts only reads: an aborted write could leave a Lease that no replica uses.
     * @throws the error of the request, or an Error with the missing permission. Whether a write took place is then unknown; the
     * next attempt finds out.
     */
    attempt: async (
      aim: () => LeaseCandidate["aim"],
      limits: { readonly timeoutMs: number; readonly signal?: AbortSignal },
    ): Promise<LeaseAttempt> => {
      const read = async () => record(await send({ method: "GET", ...limits }));
      let seen = observation === undefined || aim() === "acquire" ? await read() : observation;
      for (let conflicts = 0; conflicts < maxConflicts; conflicts++) {
        const sentAt: LeaseMoment = { monotonic: clock.monotonic(), wall: clock.wall() };
        const wanted = aim();
        const step = nextLeaseStep(seen, { identity, aim: wanted, ...sentAt }, options);
        if (step.do === "wait") return { written: false, ms: step.ms };
        const lease = await write(seen.lease, step.spec, wanted === "renew", limits.timeoutMs);
        if (lease !== undefined) {
          record(lease);
          return { written: true, sentAt, ms: step.claimMs };
        }
        seen = await read();
      }
      throw new Error(`the Lease ${description} changes faster than Wave can write it`);
    },
  };
}

/** Returns the error text of a 403, with the permission to grant. RBAC cannot limit create to a name. */
function missingPermission(namespace: string, name: string): string {
  return `no permission for Lease ${namespace}/${name}; grant create, and get and update (resourceNames: ${name}), on leases.coordination.k8s.io in namespace ${namespace} with a Role, or set --leader-election-namespace and --leader-election-id`;
}

/** The leadership of this process, from a write of the Lease until it releases the Lease or does not renew it in time. */
export type HeldLeadership = ReturnType<typeof holdLeadership>;

/**
 * Starts a leadership that is valid for `deadlineMs` after its last renewal was *sent*. Other replicas cannot have seen the record
 * before that time, so they wait for longer than the leadership is valid.
 *
 * The elapsed time is the larger one of monotonic and wall clock: the first stops in a suspended machine, the second can be set
 * back. `valid` checks the clocks and not a timer, because after SIGSTOP or a suspension, code can run before an overdue timer.
 * An ended leadership stays ended: the first check that detects the end makes it final.
 */
export function holdLeadership(clock: Clock, deadlineMs: number, sentAt: LeaseMoment) {
  const stop = new AbortController();
  const abort = new AbortController();
  let renewedAt = sentAt;
  let closed = false;
  let cancelWatch = () => {};
  let cancelDrain = () => {};

  /** Returns the milliseconds until the leadership ends without another renewal; 0 or less: it has ended. */
  const remaining = () => deadlineMs - Math.max(clock.monotonic() - renewedAt.monotonic, clock.wall() - renewedAt.wall);
  /** Ends the leadership after its work has ended, and clears all timers. */
  const close = () => {
    closed = true;
    cancelWatch();
    cancelDrain();
  };
  /** Ends the leadership at once and aborts requests in flight. */
  const end = (why: string) => {
    close();
    abort.abort(new Error(why));
  };
  /** A wall clock that jumps forward and back must not revive a leadership that was reported as ended. */
  const valid = () => {
    if (!closed && remaining() <= 0) {
      end("this process was suspended, or its clock was changed, for longer than the renew deadline");
    }
    return !closed;
  };
  const watch = () => {
    cancelWatch = clock.timer(Math.ceil(remaining()), () => {
      if (remaining() > 0) watch();
      else end(`the Lease was not renewed within ${deadlineMs / 1_000}s`);
    });
  };
  watch();

  /** What the work of the leader sees of this leadership. */
  const leadership: Leadership = { stop: stop.signal, abort: abort.signal, valid };
  return {
    leadership,
    /** Returns when the last successful renewal was sent. */
    renewedAt: () => renewedAt,
    remaining,
    /** Records a successful renewal that was sent at `moment`. Has no effect after the end. */
    renew: (moment: LeaseMoment) => {
      if (valid()) renewedAt = moment;
    },
    /** Requests the work to stop, and ends the leadership if the work has not stopped within the deadline. */
    stop: () => {
      stop.abort();
      cancelDrain = clock.timer(deadlineMs, () => end(`the work did not stop within ${deadlineMs / 1_000}s`));
    },
    end,
    close,
  };
}
