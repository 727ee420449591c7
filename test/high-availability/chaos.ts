import type { Fleet, Replica, Timings } from "./fleet.ts";

/** A kind of disturbance of the leader. */
export type Fault = "SIGTERM" | "SIGKILL" | "SIGSTOP" | "cut off";

/** All kinds of disturbance. */
export const faults: readonly Fault[] = ["SIGTERM", "SIGKILL", "SIGSTOP", "cut off"];

/** Returns a generator of random numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Disturbs the current leader repeatedly, with each kind once in a random order before a kind occurs again, until
 * `seconds` have passed and each kind occurred at least once. Resolves to the disturbances when all replicas run again.
 */
export async function wreakHavoc(o: {
  readonly fleet: Fleet;
  readonly timings: Timings;
  readonly seconds: number;
  readonly random: () => number;
  readonly say: (line: string) => void;
}): Promise<readonly Fault[]> {
  const { fleet, timings, seconds, random, say } = o;
  const end = performance.now() + seconds * 1_000;
  // Taking a Lease without an earlier observed write takes a lease duration, as does taking over from a killed leader.
  const takeOverMs = (2 * timings.lease + 10) * 1_000;
  const done: Fault[] = [];
  let order: Fault[] = [];
  while (done.length < faults.length || performance.now() < end) {
    if (order.length === 0) order = shuffled(faults, random);
    const fault = order.pop();
    if (fault === undefined) break;
    const leader = await fleet.nextLeader([], takeOverMs);
    await pause(random() * 400 * timings.lease);
    say(`${fault}: ${leader.name}`);
    await strike(fault, leader, o, takeOverMs);
    done.push(fault);
  }
  return done;
}

/** Disturbs `leader`, waits until another replica takes over, and ends the disturbance. */
async function strike(
  fault: Fault,
  leader: Replica,
  { fleet, timings, random }: { fleet: Fleet; timings: Timings; random: () => number },
  takeOverMs: number,
): Promise<void> {
  const { wave, proxy } = leader;
  // Long enough that another replica leads for a while, like 30 s with the default timings.
  const awayMs = timings.lease * 2_000;
  const next = () => fleet.nextLeader([wave], takeOverMs);
  switch (fault) {
    case "SIGTERM": {
      const code = await wave.stop("SIGTERM");
      if (code !== 0) throw new Error(`${leader.name} ended with ${code} on SIGTERM: ${wave.log()}`);
      await Promise.all([next(), fleet.replace(leader)]);
      return;
    }
    case "SIGKILL":
      await wave.stop("SIGKILL");
      await Promise.all([next(), fleet.replace(leader)]);
      return;
    case "SIGSTOP":
      wave.process.kill("SIGSTOP");
      await Promise.all([next(), pause(awayMs)]);
      wave.process.kill("SIGCONT");
      return;
    case "cut off":
      proxy.cut();
      await Promise.all([next(), pause(awayMs * (0.9 + 0.2 * random()))]);
      proxy.mend();
      return;
  }
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
