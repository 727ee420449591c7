import type { Clock } from "../lib/clock.ts";
import { type ElectionTimings, holderOf, nextStep, type Observation, observe, releasedSpec } from "./lease.ts";
import type { LeaseApi, Patience } from "./lease-api.ts";

/** One moment by both clocks of this process. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** What came of trying to get or keep the Lease. */
export type Attempt =
  /**
   * It is ours, by a write that was sent at `sentAt` and so was not seen by anybody before that; whoever is not leading
   * already may lead by it if it still is ours in `claimMs`.
   */
  | { readonly result: "held"; readonly sentAt: Moment; readonly claimMs: number }
  /** Another holds it, for at least `ms` more milliseconds. */
  | { readonly result: "heldByOther"; readonly ms: number };

/** One process's view of the Lease, and its moves. Calls must not overlap. */
export interface LeaseLock {
  /** Undefined until the Lease was read once. */
  readonly observation: () => Observation | undefined;
  /**
   * Takes or renews the Lease where the rules of `nextStep` allow that. While `leading()`, the first write is made from
   * what was last seen, else the Lease is read first. `signal` ends reads only: a write whose outcome is not known
   * would leave behind a Lease that nobody uses.
   * @throws what the request failed with; whether a write took place is then unknown, which the next attempt finds out.
   */
  readonly attempt: (leading: () => boolean, patience: Patience) => Promise<Attempt>;
  /** Gives the Lease up so that others take it at once. True unless it was not ours any more. Throws like `attempt`. */
  readonly release: (patience: Patience) => Promise<boolean>;
}

/** How often a write that lost a race is made again from the newest Lease before the next period. */
const maxRaces = 4;

/** Reads and writes the Lease of `api` under the name `identity`, which no other process may have. */
export function createLeaseLock(options: {
  readonly api: LeaseApi;
  readonly clock: Clock;
  readonly identity: string;
  readonly timings: ElectionTimings;
}): LeaseLock {
  const { api, clock, identity, timings } = options;
  let observation: Observation | undefined;

  const saw = (lease: Observation["lease"]): Observation => {
    observation = observe(observation, lease, clock.monotonic(), timings);
    return observation;
  };

  return {
    observation: () => observation,

    attempt: async (leading, patience) => {
      let seen = observation !== undefined && leading() ? observation : saw(await api.read(patience));
      for (let race = 0; race < maxRaces; race++) {
        const sentAt: Moment = { monotonic: clock.monotonic(), wall: clock.wall() };
        const step = nextStep(seen, { identity, leading: leading(), ...sentAt }, timings);
        if (step.do === "wait") return { result: "heldByOther", ms: step.ms };
        const unhurried = { timeoutMs: patience.timeoutMs };
        const written =
          step.over === undefined
            ? await api.create(step.spec, unhurried)
            : await api.update(step.over, step.spec, unhurried);
        if (written !== undefined) {
          saw(written);
          return { result: "held", sentAt, claimMs: step.claimMs };
        }
        seen = saw(await api.read(patience));
      }
      throw new Error(`the Lease ${api.description} changes faster than it can be written`);
    },

    release: async (patience) => {
      for (let race = 0; race < maxRaces; race++) {
        const lease = observation?.lease;
        if (lease === undefined || holderOf(lease) !== identity) return false;
        const written = await api.update(lease, releasedSpec(lease, clock.wall()), patience);
        if (written !== undefined) {
          saw(written);
          return true;
        }
        saw(await api.read(patience));
      }
      throw new Error(`the Lease ${api.description} changes faster than it can be written`);
    },
  };
}
