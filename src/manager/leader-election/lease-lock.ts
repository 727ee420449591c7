import type { Lease, LeaseSpec } from "kubernetes-types/coordination/v1.d.ts";
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { type Candidate, type ElectionTimings, nextStep, type Observation, observe } from "./lease.ts";

/** One moment by both clocks of this process. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** What came of an attempt. */
export type Attempt =
  /**
   * Written, by a request that was sent at `sentAt`: nobody saw it before. Whoever is not leading already may lead if
   * the Lease still is ours in `ms`.
   */
  | { readonly written: true; readonly sentAt: Moment; readonly ms: number }
  /** Another holds it, for at least `ms` more milliseconds. */
  | { readonly written: false; readonly ms: number };

/** One process's view of the Lease, and its moves, by get, create and update alone. Calls must not overlap. */
export interface LeaseLock {
  /** "namespace/name", for messages. */
  readonly description: string;
  /** Undefined until the Lease was read once. */
  readonly observation: () => Observation | undefined;
  /**
   * Writes what the rules of `nextStep` allow. To take the Lease it is read first; else the first write is made from
   * what was last seen. `signal` ends reads only: a write whose outcome is not known would leave behind a Lease that
   * nobody uses.
   * @throws what the request failed with, or what to grant where it is not allowed; whether a write took place is then
   * unknown, which the next attempt finds out.
   */
  readonly attempt: (
    aim: () => Candidate["aim"],
    patience: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ) => Promise<Attempt>;
}

/** How often a write that lost a race is made again from the newest Lease before the next period. */
const maxRaces = 4;

/** Reads and writes a Lease under the name `identity`, which no other process may have. */
export function createLeaseLock(options: {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly timings: ElectionTimings;
}): LeaseLock {
  const { client, clock, namespace, name, identity, timings } = options;
  const description = `${namespace}/${name}`;
  const { apiVersion, kind } = resources.leases;
  let observation: Observation | undefined;

  const saw = (lease: Lease | undefined): Observation => {
    observation = observe(observation, lease, clock.monotonic(), timings);
    return observation;
  };
  /** The Lease as it is after the request; undefined where it is not there, or is another than the request was for. */
  const send = async (request: Omit<ApiRequest, "path">): Promise<Lease | undefined> => {
    const creates = request.method === "POST";
    const path = resourcePath(resources.leases, creates ? { namespace } : { namespace, name });
    try {
      return await client.request<Lease>({ ...request, path });
    } catch (error) {
      if (creates ? isAlreadyExists(error) : isNotFound(error) || isConflict(error)) return undefined;
      throw isForbidden(error) ? new Error(whatToGrant(description, namespace), { cause: error }) : error;
    }
  };
  const write = (over: Lease | undefined, spec: LeaseSpec, timeoutMs: number) => {
    // With the uid: a PUT that has only a resourceVersion creates the Lease anew if it was deleted meanwhile.
    const body = { apiVersion, kind, metadata: over?.metadata ?? { namespace, name }, spec };
    return send({ method: over === undefined ? "POST" : "PUT", body, timeoutMs });
  };

  return {
    description,
    observation: () => observation,
    attempt: async (aim, patience) => {
      const read = async () => saw(await send({ method: "GET", ...patience }));
      let seen = observation === undefined || aim() === "take" ? await read() : observation;
      for (let race = 0; race < maxRaces; race++) {
        const sentAt: Moment = { monotonic: clock.monotonic(), wall: clock.wall() };
        const step = nextStep(seen, { identity, aim: aim(), ...sentAt }, timings);
        if (step.do === "wait") return { written: false, ms: step.ms };
        const lease = await write(seen.lease, step.spec, patience.timeoutMs);
        if (lease !== undefined) {
          saw(lease);
          return { written: true, sentAt, ms: step.claimMs };
        }
        seen = await read();
      }
      throw new Error(`the Lease ${description} changes faster than it can be written`);
    },
  };
}

/** What the person who installs Wave can do about a 403. */
function whatToGrant(lease: string, namespace: string): string {
  return `leader election needs get, create and update on the Lease ${lease}: grant them by a Role in namespace ${namespace}, or name another Lease by --leader-election-namespace and --leader-election-id`;
}
