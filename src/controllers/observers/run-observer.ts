// Observers of the rollout controller: controllers that learn from how its runs ended. They know none of its code.
import type { Workload } from "../../domain/model/workload.ts";
import type { RolloutPlan } from "../../domain/plan/plan.ts";
import type { ClusterPolicy } from "../../domain/policy/cluster-policy.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import type { WritePermits } from "../../runtime/write-permits.ts";

/** How a run of the rollout controller ended that has read configuration. */
export interface EndedRun {
  readonly workload: Workload;
  /** The plan; "rolled" if it was a rollout that was just written. Then `workload` is as it was before. */
  readonly plan: RolloutPlan | "rolled";
  /** The hash of the rollout that was just written. */
  readonly rolledTo?: string | undefined;
  /**
   * The first and the last change that was seen before the run, in monotonic milliseconds, and the earliest time that the API has of these
   * changes, in milliseconds since the epoch.
   */
  readonly changes:
    | { readonly first: number; readonly last: number; readonly storedFrom: number | undefined }
    | undefined;
  /** Whether the caches once matched the recorded hash, so that a difference is a later change. */
  readonly caughtUp: boolean;
}

/** Works while Wave leads. Receives runs, which have no effect otherwise. */
export interface RunObserver {
  /** Receives how a run of the rollout controller for a workload ended. */
  observe(key: string, run: EndedRun): void;
  /** Forgets a workload that is gone. */
  forget(key: string): void;
  /** Works for one leadership. */
  run(leadership: Leadership, permits: WritePermits): Promise<void>;
}

/** What {@link createRunObserver} needs. */
export interface RunObserverOptions {
  readonly policy: ClusterPolicy;
}

/** What an observer is for one leadership. */
export interface ObserverTerm extends Omit<RunObserver, "run"> {
  run(): Promise<void>;
}

/** Returns an observer that `start` makes anew for each leadership; undefined if Wave writes nothing. Nothing happens before `run`. */
export function createRunObserver<Term extends ObserverTerm>(
  { policy }: RunObserverOptions,
  start: (leadership: Leadership, permits: WritePermits) => Term,
): (RunObserver & { readonly term: Term | undefined }) | undefined {
  if (policy.pacing?.observe) return undefined;
  let term: Term | undefined;
  return {
    get term() {
      return term;
    },
    observe: (key, run) => term?.observe(key, run),
    forget: (key) => term?.forget(key),
    run: async (leadership, permits) => {
      term = start(leadership, permits);
      try {
        await term.run();
      } finally {
        term = undefined;
      }
    },
  };
}
