import { BatchGroup } from "./batch-group.ts";
import type { InLine } from "./batch-members.ts";

/**
 * Which workloads of a namespace are due for which changes, and which may go. One that several changes ask for may go when
 * each of them lets it. Objects are named by their keys.
 */
export class BatchPlaces {
  readonly #namespace: string;
  readonly #groups = new Map<string, BatchGroup>();
  readonly #due = new Map<string, readonly string[]>();
  /** Who may go for which objects: until the write is made, or there is none to make. */
  readonly #going = new Map<string, readonly string[]>();
  /** Who may go for one change and not for another, so that nobody waits for them. */
  readonly #passedOver = new Set<string>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** The changes for which somebody is due or may go. */
  get groups(): ReadonlyMap<string, BatchGroup> {
    return this.#groups;
  }

  /** The group of a change, which need not be one of `groups`. */
  groupOf(config: string): BatchGroup {
    return this.#groups.get(config) ?? new BatchGroup(this.#namespace, config);
  }

  /** A workload is due for these and no others. Tells of which changes something is another. */
  due(key: string, configs: readonly string[]): readonly string[] {
    const before = this.#remove(key);
    this.#due.set(key, configs);
    for (const config of configs) {
      const group = this.groupOf(config);
      this.#groups.set(config, group);
      group.due.add(key);
    }
    this.#forgetEmpty(before);
    return [...before, ...configs];
  }

  /** A workload may go for all for which it is due. */
  letGo(key: string): readonly string[] {
    const configs = this.#remove(key);
    this.#going.set(key, configs);
    for (const config of configs) this.#groups.get(config)?.going.add(key);
    return configs;
  }

  /** A workload is neither due nor may go. */
  leave(key: string): readonly string[] {
    const before = this.#remove(key);
    this.#forgetEmpty(before);
    return before;
  }

  /** Forgets all groups. */
  clear(): void {
    this.#groups.clear();
  }

  /** Whether a workload may go for all of these. */
  mayGo(key: string, configs: readonly string[]): boolean {
    const going = this.#going.get(key);
    return going !== undefined && configs.every((config) => going.includes(config));
  }

  /** Where a workload is in line for a change. */
  inLine(key: string, config: string): InLine {
    if (this.#going.get(key)?.includes(config)) return "goes";
    if (!this.#due.get(key)?.includes(config)) return "no";
    return this.#passedOver.has(key) ? "heldElsewhere" : "due";
  }

  /** Nobody is passed over any more. Tells of which changes something is another. */
  passOverNobody(): readonly string[] {
    const configs = [...this.#passedOver].flatMap((key) => this.#due.get(key) ?? []);
    this.#passedOver.clear();
    return configs;
  }

  /** Passes over those that one change lets go and another does not. Tells of which changes others may go instead. */
  passOver(): readonly string[] {
    const affected: string[] = [];
    for (const [config, { go }] of this.#groups) {
      const blocked = [...go].filter((key) => !this.#isLetByAll(key) && !this.#passedOver.has(key));
      for (const key of blocked) this.#passedOver.add(key);
      if (blocked.length > 0) affected.push(config);
    }
    return affected;
  }

  /** Those that each of their changes lets go, in order. */
  whoMayGo(): readonly string[] {
    const all = this.#groups.values().flatMap(({ go }) => go);
    return [...new Set(all.filter((key) => this.#isLetByAll(key)))];
  }

  #isLetByAll(key: string): boolean {
    const configs = this.#due.get(key) ?? [];
    const lets = (group: BatchGroup | undefined) => group !== undefined && !group.isStale && group.go.has(key);
    return configs.length > 0 && configs.every((config) => lets(this.#groups.get(config)));
  }

  #remove(key: string): readonly string[] {
    const configs = [...(this.#due.get(key) ?? []), ...(this.#going.get(key) ?? [])];
    this.#due.delete(key);
    this.#going.delete(key);
    for (const config of configs) {
      this.#groups.get(config)?.due.delete(key);
      this.#groups.get(config)?.going.delete(key);
    }
    return configs;
  }

  #forgetEmpty(configs: readonly string[]): void {
    for (const config of configs) {
      const group = this.#groups.get(config);
      if (group !== undefined && group.due.size + group.going.size === 0) this.#groups.delete(config);
    }
  }
}
