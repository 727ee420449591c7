import type { AlertQuery } from "../../../src/controllers/rollout/gate/query-alerts.ts";
import { isOlderThan } from "../kept-seeds.ts";
import type { AlertAnswer } from "../record.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** Whether `--gate-required` is set; undefined: there is no alert gate, as in half of the runs with pacing and in every older run that is kept. */
export function chooseGate(random: Random, seed: number): boolean | undefined {
  return random.chance(0.5) && !isOlderThan(seed, "returns and alerts") ? random.chance(0.5) : undefined;
}

/** Plays Prometheus: alerts fire in namespaces, and sometimes it does not answer. */
export class AlertSource {
  readonly answers: AlertAnswer[] = [];
  /** The namespaces in which an alert fires. */
  readonly firing = new Set<string>();
  isAway = false;
  readonly #scheduler: Scheduler;
  readonly #random: Random;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  /** Is away again and again until a time. */
  async trouble(until: number): Promise<void> {
    while (this.#scheduler.now < until) {
      await this.#scheduler.sleep(this.#random.exponential(30_000));
      this.isAway = this.#scheduler.now < until && this.#random.chance(0.7);
    }
  }

  /** Returns the query of a process. */
  queryOf(process: SimulatedProcess): AlertQuery {
    return () =>
      new Promise((resolve, reject) => {
        this.#scheduler.after(this.#random.between(1, 50), () => {
          const firing = this.isAway ? undefined : [...this.firing];
          process.enter(() => {
            this.answers.push({ at: this.#scheduler.now, replica: process.name, firing });
            if (firing === undefined) reject(new Error("Prometheus is away"));
            else resolve(new Map(firing.map((namespace) => [namespace, ["Errors"]])));
          });
        });
      });
  }
}
