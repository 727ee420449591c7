import type { Change } from "../config/changes.ts";
import type { ConfigView } from "../config/hash.ts";
import type { Missing } from "../config/view.ts";
import type { LimitExceeded } from "../references/limits.ts";
import type { Hold } from "./hold.ts";

/** What to do with a workload. */
export type Decision =
  /** Not Wave's to roll: it has not opted in, or is being deleted. */
  | { readonly outcome: "ignore" }
  /** Its Pods see what new ones would. */
  | { readonly outcome: "current"; readonly view: ConfigView }
  /** No hash of this algorithm is recorded, or only the scheduling gate must be lifted: record the hash. */
  | ({ readonly outcome: "firstHash"; readonly hash: string; readonly view: ConfigView } & Streak)
  /**
   * It is seen `first` and has none, or its recorded hash cannot be told, or soon not any more, because of its `key`, and the current configuration is taken to be
   * what its Pods see; or it is of other objects than those that `count` by now, and its Pods see the same of these. `hash`,
   * which stands for that, is noted as the baseline beside the recorded one, without new Pods.
   */
  | {
      readonly outcome: "recorded";
      readonly because: "key" | "count" | "first";
      readonly hash: string;
      readonly view: ConfigView;
      /** What Pods would see that are made now: of what does not count `view` says what the old ones see. */
      readonly newPods: ConfigView;
    }
  /** Its Pods see other configuration than new ones would; `changed` is undefined where nobody watched it change. */
  | ({
      readonly outcome: "roll";
      readonly hash: string;
      readonly view: ConfigView;
      readonly changed: readonly Change[] | undefined;
    } & Streak)
  /**
   * Something required is missing (sorted, each once): the workload keeps what it has. The gate is "closed" where it
   * keeps Pods pending.
   */
  | { readonly outcome: "waiting"; readonly missing: readonly Missing[]; readonly schedulingHold: "closed" | "open" }
  /** It exceeds a budget: nobody looks at what it reads, and it keeps what it has. */
  | { readonly outcome: "overLimit"; readonly limitExceeded: LimitExceeded }
  /** The scheduling gate must be lifted although nothing is rolled, or a Deployment resumed that Reloader left paused. */
  | { readonly outcome: "cleanUp" };

interface Streak {
  /** Which one it is of the rolls with no quiet time between them, to be noted; undefined where it is planned for no moment. */
  readonly streak?: number;
}

/** Something is due, but may not happen yet. */
export interface Held {
  readonly outcome: "held";
  readonly due: DueDecision;
  readonly hold: Hold;
}

/** What is to be written. */
export type DueDecision = Extract<Decision, { readonly outcome: "firstHash" | "recorded" | "roll" | "cleanUp" }>;

/** A decision and why it is so, in one line. */
export type Reasoned = Decision & { readonly reason: string };
