import type { QueuePosition } from "../../../domain/pacing/batch-member.ts";
import { partlyAdmitted } from "../../../domain/pacing/partly-admitted.ts";
import { BatchGroup } from "./batch-group.ts";

/**
 * Which workloads of a namespace are due for which changes, and which are admitted. A workload that is due for several
 * changes is admitted if the batches of all of them admit it. Objects are named by their keys.
 */
export class BatchPlaces {
  readonly #namespace: string;
  readonly #groups = new Map<string, BatchGroup>();
  readonly #due = new Map<string, readonly string[]>();
  /** The admitted workloads and their objects, until they are written or have nothing to write. */
  readonly #admittedFor = new Map<string, readonly string[]>();
  /** Workloads that one change admits and another does not, so that no workload waits for them. */
  readonly #blocked = new Set<string>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** The changes for which a workload is due or admitted. */
  get groups(): ReadonlyMap<string, BatchGroup> {
    return this.#groups;
  }

  /** Returns the group of a change, which need not be one of `groups`. */
  groupOf(config: string): BatchGroup {
    return this.#groups.get(config) ?? new BatchGroup(this.#namespace, config);
  }

  /** Makes a workload due for exactly these changes. Returns the affected changes. */
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

  /** Admits a workload for all changes for which it is due. Returns these changes. */
  admit(key: string): readonly string[] {
    const configs = this.#remove(key);
    this.#admittedFor.set(key, configs);
    for (const config of configs) this.#groups.get(config)?.admit(key);
    return configs;
  }

  /** Removes a workload. Returns the affected changes. */
  leave(key: string): readonly string[] {
    const before = this.#remove(key);
    this.#forgetEmpty(before);
    return before;
  }

  /** Removes all groups. */
  clear(): void {
    this.#groups.clear();
  }

  /** Reports whether a workload is admitted for all of these changes. */
  isAdmitted(key: string, configs: readonly string[]): boolean {
    const admitted = this.#admittedFor.get(key);
    return admitted !== undefined && configs.every((config) => admitted.includes(config));
  }

  /** Returns the position of a workload for a change. */
  positionOf(key: string, config: string): QueuePosition {
    if (this.#admittedFor.get(key)?.includes(config))
      return this.#groups.get(config)?.writing.get(key) ? "admitted" : "admittedIncomplete";
    if (!this.#due.get(key)?.includes(config)) return "none";
    return this.#blocked.has(key) ? "heldElsewhere" : "due";
  }

  /** Unblocks all workloads. Returns the affected changes. */
  unblockAll(): readonly string[] {
    const configs = [...this.#blocked].flatMap((key) => this.#due.get(key) ?? []);
    this.#blocked.clear();
    return configs;
  }

  /** Blocks workloads that one change admits and another does not. Returns the changes that may admit others instead. */
  blockPartlyAdmitted(): readonly string[] {
    const admitted = this.#groups.entries().map(([config, group]) => [config, group.admitted] as const);
    const held = [...partlyAdmitted(admitted, (key) => this.#isAdmittedByAll(key))];
    const blocked = held.filter(([key]) => !this.#blocked.has(key));
    for (const [key] of blocked) this.#blocked.add(key);
    return [...new Set(blocked.flatMap(([, configs]) => configs))];
  }

  /** Returns the workloads that all of their changes admit, in order. */
  admittedByAll(): readonly string[] {
    const all = this.#groups.values().flatMap(({ admitted }) => admitted);
    return [...new Set(all.filter((key) => this.#isAdmittedByAll(key)))];
  }

  #isAdmittedByAll(key: string): boolean {
    const configs = this.#due.get(key) ?? [];
    const admits = (group: BatchGroup | undefined) => group !== undefined && !group.isStale && group.admitted.has(key);
    return configs.length > 0 && configs.every((config) => admits(this.#groups.get(config)));
  }

  #remove(key: string): readonly string[] {
    const configs = [...(this.#due.get(key) ?? []), ...(this.#admittedFor.get(key) ?? [])];
    this.#due.delete(key);
    this.#admittedFor.delete(key);
    for (const config of configs) {
      this.#groups.get(config)?.due.delete(key);
      this.#groups.get(config)?.writing.delete(key);
    }
    return configs;
  }

  #forgetEmpty(configs: readonly string[]): void {
    for (const config of configs) {
      const group = this.#groups.get(config);
      if (group !== undefined && group.due.size + group.writing.size === 0) this.#groups.delete(config);
    }
  }
}
