import type { Hold } from "../../../domain/decision/hold.ts";
import type { ConfigName } from "../../../domain/references/references.ts";
import { longestTimerMs } from "../../../lib/clock.ts";
import type { Priority } from "../../../runtime/fair-queue.ts";
import { type BatchGroup, longestPutOffMs } from "./batch-group.ts";
import type { BatchFacts, ChangeTimes } from "./batch-members.ts";
import { BatchPlaces } from "./batch-places.ts";
import type { HaltedChange } from "./halted-objects.ts";

/** What {@link NamespaceWaves} need. */
export interface NamespaceBatchesOptions extends BatchFacts {
  /** The keys of the workloads of a namespace that read the object of a key. */
  readonly readers: (namespace: string, config: string) => readonly string[];
  /** When an object changed. */
  readonly changeOf: (object: ConfigName) => ChangeTimes;
  /** A workload that is due is to be planned again: it may go now ("high"), or is halted, or no longer ("low"). */
  readonly onChange: (key: string, urgency: Priority) => void;
  /** Whoever looks after an object is to be told that its change is halted. */
  readonly onHalted: (change: HaltedChange) => void;
}

/** Those who ask at the same time are looked at together, and looking may take but a small part of the time. */
const soonestMs = 20;
const membersAMillisecond = 20;
/** So often at most others are looked for in one look: who is left over has another look to wait for. */
const mostPassedOver = 4;
/** As the Events of workloads. */
const tellAgainMs = 45 * 60_000;
/** Whoever may make a rollout fail and recover is not to flood whoever shares the object with him. */
const toldApartMs = 60_000;

/**
 * Who of the workloads of a namespace may be rolled for which change. Nothing is remembered that could be lost: who is due
 * asks again, and how far the others are follows from what they are. A workload that several changes ask for goes when each
 * of them lets it; until then it takes nobody's place.
 */
export class NamespaceBatches {
  readonly #namespace: string;
  readonly #options: NamespaceBatchesOptions;
  readonly #places: BatchPlaces;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  /** How many members were looked at the last time. */
  #looked = 0;
  /** The keys of the objects whose change was found to be halted. */
  readonly #halted = new Set<string>();

  constructor(namespace: string, options: NamespaceBatchesOptions) {
    this.#namespace = namespace;
    this.#options = options;
    this.#places = new BatchPlaces(namespace);
  }

  /** How many changes are halted. */
  get halted(): number {
    return this.#places.groups.values().reduce((sum, { isHalted }) => sum + (isHalted ? 1 : 0), 0);
  }

  /** Whether nobody waits or goes: then there is nothing to know. */
  get isOver(): boolean {
    return this.#places.groups.size === 0;
  }

  /** What holds a workload that is due because the objects of these keys changed; undefined where it may go. */
  holdOf(key: string, configs: readonly string[]): Hold | undefined {
    if (this.#places.mayGo(key, configs)) return undefined;
    const { clock, flags } = this.#options;
    const groups = configs.map((config) => this.#places.groupOf(config));
    const holding = groups.filter(({ go }) => !go.has(key));
    const group = holding.find(({ isHalted }) => isHalted) ?? holding[0] ?? groups[0];
    const hold = group?.holdBy(flags);
    // Where that time is past, a look is about to tell.
    return hold?.until !== undefined && hold.until <= clock.wall() ? { ...hold, until: undefined } : hold;
  }

  /** A workload is due because the objects of these keys changed, and held by nothing but waves. */
  due(key: string, configs: readonly string[]): void {
    this.touch(this.#places.due(key, configs));
  }

  /** A workload is written, or not due any more, or held by something else, or gone. */
  leave(key: string): void {
    this.touch(this.#places.leave(key));
  }

  /** Something may have changed of workloads that read the objects of these keys. */
  touch(configs: Iterable<string>): void {
    if (this.#makeStale(configs)) this.#lookIn(Math.max(soonestMs, this.#looked / membersAMillisecond));
  }

  /** Something may have changed of a workload of which it is not known what it reads. */
  touchAll(): void {
    this.touch(this.#places.groups.keys());
  }

  /** Nobody goes any more. */
  close(): void {
    this.#timer?.cancel();
    this.#places.clear();
  }

  /** The keys of the objects whose change is halted because this workload, among others, failed: it may read them no longer. */
  haltedBy(key: string): readonly string[] {
    return [...this.#halted].filter((config) => this.#places.groups.get(config)?.failed.includes(key));
  }

  #makeStale(configs: Iterable<string>): boolean {
    let any = false;
    for (const config of configs) {
      const group = this.#places.groups.get(config);
      if (group === undefined) continue;
      group.isStale = true;
      any = true;
    }
    return any;
  }

  /** Looks `ms` from now, if not sooner. */
  #lookIn(ms: number): void {
    const { clock } = this.#options;
    const waitMs = Math.min(longestTimerMs, Math.max(1, Math.ceil(ms)));
    const at = clock.monotonic() + waitMs;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const cancel = clock.timer(waitMs, () => {
      this.#timer = undefined;
      this.#look();
    });
    this.#timer = { at, cancel };
  }

  /** Costs the members of those changes of which something may be new. */
  #look(): void {
    const { clock, onChange } = this.#options;
    const { groups } = this.#places;
    this.#looked = 0;
    this.#makeStale(this.#places.passOverNobody());
    for (const [config, group] of groups) {
      if (group.isStale || group.again <= clock.wall()) this.#find(config, group);
    }
    for (let times = 0; times < mostPassedOver && this.#passOver(); times++);
    // All of one moment: nobody is let go into a place that was taken since.
    for (const key of this.#places.whoMayGo()) {
      this.touch(this.#places.letGo(key));
      onChange(key, "high");
    }
    const times = groups.values().map(({ isStale, again }) => (isStale ? Number.POSITIVE_INFINITY : again));
    const next = Math.min(...times);
    if (Number.isFinite(next)) this.#lookIn(Math.max(soonestMs, next - clock.wall()));
  }

  /** Whether there was anybody. */
  #passOver(): boolean {
    const affected = this.#places.passOver();
    for (const config of affected) {
      const group = this.#places.groups.get(config);
      if (group !== undefined && !group.isStale) this.#find(config, group);
    }
    return affected.length > 0;
  }

  #find(config: string, group: BatchGroup): void {
    const { readers, changeOf, onChange } = this.#options;
    const wasHalted = group.isHalted;
    const keys = new Set([...readers(this.#namespace, config), ...group.due, ...group.going]);
    this.#looked += keys.size;
    group.find(keys, changeOf(group.object), (key) => this.#places.inLine(key, config), this.#options);
    // Whoever is still to be planned touches it then.
    if (group.isStale) this.#lookIn(longestPutOffMs);
    else if (group.isHalted !== wasHalted) {
      for (const key of group.due) if (!group.go.has(key)) onChange(key, "low");
    }
    if (group.isHalted) this.#halted.add(config);
    else this.#halted.delete(config);
    if (!group.isHalted) group.isHaltTold = false;
    else if (!group.isStale) this.#tellOfHalt(group);
  }

  #tellOfHalt(group: BatchGroup): void {
    const now = this.#options.clock.monotonic();
    const afterMs = group.isHaltTold ? tellAgainMs : toldApartMs;
    if (now < group.haltToldAt + afterMs) return;
    group.isHaltTold = true;
    group.haltToldAt = now;
    this.#options.onHalted({ object: group.object, namespace: this.#namespace, failed: group.failed });
  }
}
