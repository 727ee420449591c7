import type { World } from "../record.ts";
import type { Cluster } from "./cluster.ts";
import type { Random } from "./random.ts";
import type { Replica } from "./replica.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

/** The inputs of an {@link Encore}. */
interface EncoreOptions {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  readonly weather: Weather;
  readonly random: Random;
  readonly trace: Trace;
  readonly violated: (what: string) => void;
  /** The running processes, which do not change until the end. */
  readonly replicas: readonly Replica[];
  /** Advances by this time in milliseconds, and by more if something that is paced is not correct then. */
  readonly becomeRight: (ms: number) => Promise<void>;
}

/** The maximum time until everything is correct again after one action and one small fault. */
const roundMs = 12_000;
/** The same if a server requests a retry after a day: Wave retries after five minutes. */
const longRoundMs = 315_000;
/** The resets of a connection, which lives longer than a second each time. */
const resets = { count: 6, everyMs: 2_500 };

/** The actions: half of them are those that are easily missed, the others have their usual frequency. */
const steps = [
  "delete configuration",
  "delete configuration",
  "give or take a grant",
  "give or take a grant",
  "anything",
  "anything",
  "anything",
];

/** The fault of one round, and the maximum time of the round. */
type Round = "nothing" | "reset" | "gap" | "answersLost" | "asksForADay";

/**
 * Runs one action at a time after everything is correct. In a storm the next change repairs what was missed in the previous
 * one; here nothing else repairs it. Each round is one action of the world and one small fault, and at its end everything
 * must be correct again.
 */
export class Encore {
  readonly #options: EncoreOptions;
  readonly #random: Random;

  constructor(options: EncoreOptions) {
    this.#options = options;
    this.#random = options.random.stream("encore");
  }

  /** Runs all rounds; returns the moments at which everything had to be correct. */
  async play(world: World): Promise<readonly number[]> {
    const { scheduler, trace } = this.#options;
    const random = this.#random;
    const moments: number[] = [];
    if (random.chance(0.3)) await this.#resetOften();
    const rounds = Array.from({ length: 3 }, () =>
      random.pick<Round>(["nothing", "reset", "gap", "gap", "answersLost"]),
    );
    if (random.chance(0.15)) rounds.push("asksForADay");
    for (const round of rounds) {
      trace.line("", () => `encore: ${round}`);
      await this.#round(round, world);
      moments.push(scheduler.now);
    }
    return moments;
  }

  async #resetOften(): Promise<void> {
    const { scheduler } = this.#options;
    for (let times = 0; times < resets.count; times++) {
      this.#breakAll();
      await scheduler.runUntil(scheduler.now + resets.everyMs);
    }
  }

  async #round(round: Round, world: World): Promise<void> {
    const { scheduler, cluster, weather, becomeRight } = this.#options;
    const end = scheduler.now + (round === "asksForADay" ? longRoundMs : roundMs);
    if (round === "reset") this.#breakAll();
    if (round === "gap") {
      cluster.gapsAt.push(scheduler.now);
      cluster.down = true;
      this.#breakAll();
      scheduler.after(2_500, () => {
        cluster.down = false;
        cluster.server.registry.storage.expireHistory();
      });
    }
    if (round === "answersLost" || round === "asksForADay") weather.encore = round;
    // Faults of patches need a patch.
    const wanted = weather.encore === undefined ? this.#random.pick(steps) : "edit";
    scheduler.after(1_000, () => this.#step(world, wanted));
    await scheduler.runUntil(scheduler.now + 4_000);
    weather.encore = undefined;
    await becomeRight(end - scheduler.now);
  }

  #step(world: World, wanted: string): void {
    const { trace, violated } = this.#options;
    world.step(wanted).then(
      (what) => trace.line("world", () => what),
      (error: unknown) => violated(`the world broke: ${error instanceof Error ? error.stack : String(error)}`),
    );
  }

  #breakAll(): void {
    for (const { network } of this.#options.replicas) network.break("the API server closed the connection");
  }
}
