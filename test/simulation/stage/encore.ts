import type { World } from "../record.ts";
import type { Cluster } from "./cluster.ts";
import type { Random } from "./random.ts";
import type { Replica } from "./replica.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

/** What an {@link Encore} is played on. */
interface EncoreOptions {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  readonly weather: Weather;
  readonly random: Random;
  readonly trace: Trace;
  readonly violated: (what: string) => void;
  /** The processes that run, which are the same until the end. */
  readonly replicas: readonly Replica[];
  /** Lets so much time pass, in milliseconds, and more where something is paced that is not right then. */
  readonly becomeRight: (ms: number) => Promise<void>;
}

/** Within this everything is right again after one thing that somebody did, and one small thing that went wrong. */
const roundMs = 12_000;
/** The same where a server asks to come back in a day: Wave comes back after a minute. */
const longRoundMs = 75_000;
/** A connection that is reset so often lives longer than a second each time. */
const resets = { count: 6, everyMs: 2_500 };

/** What is done: half of it is what is easily forgotten, the rest is as often as otherwise. */
const steps = [
  "delete configuration",
  "delete configuration",
  "give or take a grant",
  "give or take a grant",
  "anything",
  "anything",
  "anything",
];

/** What goes wrong in one round, and for how long at most everything may take. */
type Round = "nothing" | "reset" | "gap" | "answersLost" | "asksForADay";

/**
 * After all is right: one thing at a time. In a storm the next change repairs what was forgotten of the one before; here
 * nothing comes to help. Each round is one step of the world, and one small thing that goes wrong, and in its end
 * everything must be right again.
 */
export class Encore {
  readonly #options: EncoreOptions;
  readonly #random: Random;

  constructor(options: EncoreOptions) {
    this.#options = options;
    this.#random = options.random.stream("encore");
  }

  /** Plays it; returns when everything had to be right. */
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
      cluster.down = true;
      this.#breakAll();
      scheduler.after(2_500, () => {
        cluster.down = false;
        cluster.server.registry.storage.expireHistory();
      });
    }
    if (round === "answersLost" || round === "asksForADay") weather.encore = round;
    // What goes wrong with patches needs one.
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
