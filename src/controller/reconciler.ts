import type { Caches } from "../cache/caches.ts";
import type { ApiClient } from "../kube/client.ts";
import type { Clock } from "../lib/clock.ts";
import type { ConfigView } from "../rollout/hash.ts";
import { patchFor } from "../rollout/patch.ts";
import { planRollout, type RolloutPlan } from "../rollout/plan.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Workload } from "../rollout/workload.ts";
import { Expectations } from "./expectations.ts";
import type { Leadership } from "./leadership.ts";
import type { Outcome } from "./outcome.ts";
import { Pacing, type Tokens } from "./pacing.ts";
import { writeWorkload } from "./workload-writer.ts";

/** What a {@link Reconciler} is made from. */
export interface ReconcilerOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<Caches, "lookup" | "workload">;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly tokens: Tokens;
}

/** How often a workload that changed meanwhile is read and planned again at once, before it has to wait. */
const triesAtOnce = 3;

/**
 * Brings one workload to what its plan says, with at most one write. It decides nothing: `planRollout` does. It serves
 * one term of leading, in which a key must never be reconciled twice at once.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #expectations: Expectations;
  readonly #pacing: Pacing;
  /** What each workload was last seen to see, so that a roll can say what changed. */
  readonly #views = new Map<string, ConfigView>();
  /** Writes of which no answer came. */
  readonly #uncertain = new Map<string, { readonly before: Workload; readonly plan: RolloutPlan }>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#expectations = new Expectations(options.clock);
    this.#pacing = new Pacing(options.clock, options.tokens);
  }

  /** Plans the workload of `key` and writes what is to be written. Rejects only for a bug. */
  async reconcile(key: string, leadership: Leadership): Promise<Outcome> {
    const { caches, policy } = this.#options;
    const cached = caches.workload(key);
    if (cached === undefined) return this.#gone(key);
    let workload = this.#expectations.newest(key, cached);
    for (let attempt = 0; attempt < triesAtOnce; attempt++) {
      const plan = planRollout(workload, caches.lookup, policy, this.#views.get(key));
      const patch = patchFor(workload, plan);
      if (patch === undefined) return this.#settled(key, workload, plan);
      // A token is good for one write, however many tries that takes.
      const waitMs = attempt === 0 ? this.#pacing.take(key) : 0;
      if (waitMs > 0) return { type: "paced", waitMs };
      if (leadership.abort.aborted || !leadership.valid()) return { type: "stopped" };
      const result = await this.#write(workload, patch, leadership.abort);
      switch (result.type) {
        case "written":
          this.#expectations.expect(key, cached, result.after);
          return this.#written(key, workload, plan);
        case "stale":
          this.#expectations.expect(key, cached, result.newest);
          workload = result.newest;
          break;
        case "unavailable":
          if (result.uncertain) this.#uncertain.set(key, { before: workload, plan });
          return { ...result, workload };
        case "refused":
          return { ...result, workload };
        case "gone":
          return this.#gone(key);
        case "stopped":
          return result;
      }
    }
    return { type: "conflict", workload };
  }

  async #write(workload: Workload, patch: NonNullable<ReturnType<typeof patchFor>>, abort: AbortSignal) {
    try {
      return await writeWorkload(this.#options.client, workload, patch, abort);
    } catch (error) {
      if (abort.aborted) return { type: "stopped" } as const;
      throw error;
    }
  }

  #settled(key: string, workload: Workload, plan: RolloutPlan): Outcome {
    this.#pacing.drop(key);
    const uncertain = this.#uncertain.get(key);
    this.#uncertain.delete(key);
    if (plan.outcome === "unchanged") {
      // The write of which no answer came did arrive: it is told of now.
      if (uncertain !== undefined && hashOf(uncertain.plan) === plan.view.hash) {
        return this.#written(key, uncertain.before, uncertain.plan);
      }
      this.#views.set(key, plan.view);
    }
    return { type: "settled", workload, plan };
  }

  #written(key: string, before: Workload, plan: RolloutPlan): Outcome {
    this.#uncertain.delete(key);
    if ("view" in plan) this.#views.set(key, plan.view);
    return { type: "written", before, plan };
  }

  #gone(key: string): Outcome {
    this.#views.delete(key);
    this.#uncertain.delete(key);
    this.#expectations.forget(key);
    this.#pacing.drop(key);
    return { type: "gone" };
  }
}

function hashOf(plan: RolloutPlan): string | undefined {
  return "hash" in plan ? plan.hash : undefined;
}
