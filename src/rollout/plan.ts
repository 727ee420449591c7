import type { Config } from "./digest.ts";
import type { ConfigView } from "./hash.ts";
import type { ConfigKind, ConfigName } from "./references.ts";
import type { Warning } from "./warning.ts";

export type { Warning } from "./warning.ts";

/** Finds an object in the cache, or in what was read live; undefined where it does not exist. */
export type Lookup = (kind: ConfigKind, namespace: string, name: string) => Config | undefined;

/** Something required that does not exist. */
export interface Missing extends ConfigName {
  /** The missing key of an object that exists; undefined where the object itself is missing. */
  readonly key?: string;
}

/** What changed in one object since the last roll. */
export interface Change extends ConfigName {
  /** The keys that came, went or changed, sorted; empty where the object itself came or went. */
  readonly keys: readonly string[];
}

/** What to do with a workload, why, and what a person should be told about it. */
export type RolloutPlan = {
  /** One line for a person. */
  readonly reason: string;
  readonly warnings: readonly Warning[];
} & (
  | { /** Not Wave's to roll: not opted in, or being deleted. */ readonly outcome: "ignore" }
  | { /** Nothing to write. */ readonly outcome: "unchanged"; readonly view: ConfigView }
  | {
      /** No hash of this algorithm is recorded, or only the scheduling gate must be lifted: record the hash. */
      readonly outcome: "baseline";
      readonly hash: string;
      readonly view: ConfigView;
    }
  | {
      /** The Pods see other configuration than a new one would. */
      readonly outcome: "roll";
      readonly hash: string;
      readonly view: ConfigView;
      /** What changed; undefined where it changed while nobody watched. */
      readonly changed: readonly Change[] | undefined;
    }
  | {
      /** Something required is missing: the workload keeps what it has. */
      readonly outcome: "waiting";
      /** Sorted, each once. */
      readonly missing: readonly Missing[];
      /** "closed" where the scheduling gate keeps its Pods pending. */
      readonly gate: "closed" | "open";
    }
  | { /** The scheduling gate must be lifted although nothing is rolled. */ readonly outcome: "cleanUp" }
);
