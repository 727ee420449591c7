import type { Hold } from "../../../domain/decision/hold.ts";
import { batchOf, type Wave } from "../../../domain/pacing/batches.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import { type ConfigName, configKey, parseConfigKey } from "../../../domain/references/references.ts";
import { type BatchFacts, type ChangeTimes, type InLine, membersOf } from "./batch-members.ts";

/** Members that are always just to be planned hold up the others no longer, in milliseconds. */
export const longestPutOffMs = 10_000;

/** A change of one object, for the workloads of one namespace that read it. */
export class BatchGroup {
  readonly object: ConfigName;
  readonly #namespace: string;
  /** Those that are due for it and held by nothing but waves. */
  readonly due = new Set<string>();
  /** Those that may go and are not yet written. */
  readonly going = new Set<string>();
  /** Whether something may have changed since who may go was found. */
  isStale = true;
  /** When whoever looks after the object was told last that it is halted, on the monotonic clock, and whether of this time. */
  haltToldAt = Number.NEGATIVE_INFINITY;
  isHaltTold = false;
  #batch: Wave | undefined;
  #failed: readonly string[] = [];
  #putOffSince: number | undefined;

  /** `config` is the key of the object. */
  constructor(namespace: string, config: string) {
    this.#namespace = namespace;
    this.object = parseConfigKey(config);
  }

  /** Whether too many failed with the change, as it was found last. */
  get isHalted(): boolean {
    return this.#batch?.halted ?? false;
  }

  /** The keys of those that may go, in their order, as it was found last. */
  get go(): ReadonlySet<string> {
    return this.#batch?.go ?? new Set();
  }

  /** When time alone may change who may go, milliseconds since the epoch. */
  get again(): number {
    return this.#batch?.again ?? Number.POSITIVE_INFINITY;
  }

  /** The keys of those that failed, as it was found last. */
  get failed(): readonly string[] {
    return this.#failed;
  }

  /** What holds those that may not go. */
  holdBy(flags: PacingFlags): Hold {
    return (this.#batch ?? batchOf({ object: this.object, namespace: this.#namespace, members: [] }, flags)).hold;
  }

  /**
   * Finds who may go, among those of `keys` that a change of these times concerns. Where one of them is still to be planned,
   * it stays stale.
   */
  find(keys: Iterable<string>, times: ChangeTimes, inLine: (key: string) => InLine, facts: BatchFacts): void {
    const now = facts.clock.monotonic();
    this.#putOffSince ??= now;
    const waitsForPlans = now < this.#putOffSince + longestPutOffMs;
    const change = { namespace: this.#namespace, config: configKey(this.object), ...times, waitsForPlans };
    const members = membersOf(change, keys, inLine, facts);
    this.isStale = members === undefined;
    if (members === undefined) return;
    this.#putOffSince = undefined;
    this.#failed = members.filter(({ stage }) => stage.state === "failed").map(({ key }) => key);
    this.#batch = batchOf({ object: this.object, namespace: this.#namespace, members }, facts.flags);
  }
}
