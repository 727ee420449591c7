import { longestTimerMs } from "../lib/clock.ts";
import type { Priority } from "../lib/fair-queue.ts";
import type { Hold } from "../rollout/pacing/hold.ts";
import type { ConfigName } from "../rollout/references.ts";
import type { HaltedChange } from "./halted-objects.ts";
import { longestPutOffMs, WaveGroup } from "./wave-group.ts";
import type { ChangeTimes, InLine, WaveFacts } from "./wave-members.ts";

/** What {@link NamespaceWaves} need. */
export interface NamespaceWavesOptions extends WaveFacts {
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
/** As the Events of workloads. */
const tellAgainMs = 45 * 60_000;

/**
 * Who of the workloads of a namespace may be rolled for which change. Nothing is remembered that could be lost: who is due
 * asks again, and how far the others are follows from what they are. A workload that several changes ask for goes when each
 * of them lets it; until then it takes nobody's place.
 */
export class NamespaceWaves {
  readonly #namespace: string;
  readonly #options: NamespaceWavesOptions;
  readonly #groups = new Map<string, WaveGroup>();
  /** For which objects each workload is due. */
  readonly #due = new Map<string, readonly string[]>();
  /** Who may go, for which objects, and since when on the wall clock: until it is written, or nothing is to be written. */
  readonly #going = new Map<string, { readonly configs: readonly string[]; readonly since: number }>();
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  /** How many members were looked at the last time. */
  #looked = 0;

  constructor(namespace: string, options: NamespaceWavesOptions) {
    this.#namespace = namespace;
    this.#options = options;
  }

  /** How many changes are halted. */
  get halted(): number {
    return this.#groups.values().reduce((sum, { isHalted }) => sum + (isHalted ? 1 : 0), 0);
  }

  /** Whether nobody waits or goes: then there is nothing to know. */
  get isOver(): boolean {
    return this.#groups.size === 0;
  }

  /** What holds a workload that is due because the objects of these keys changed; undefined where it may go. */
  holdOf(key: string, configs: readonly string[]): Hold | undefined {
    const going = this.#going.get(key);
    if (going !== undefined && configs.every((config) => going.configs.includes(config))) return undefined;
    const { clock, flags } = this.#options;
    const groups = configs.map((config) => this.#groups.get(config) ?? new WaveGroup(this.#namespace, config));
    const holding = groups.filter(({ go }) => !go.has(key));
    const group = holding.find(({ isHalted }) => isHalted) ?? holding[0] ?? groups[0];
    const hold = group?.holdBy(flags);
    // Where that time is past, a look is about to tell.
    return hold?.until !== undefined && hold.until <= clock.wall() ? { ...hold, until: undefined } : hold;
  }

  /** A workload is due because the objects of these keys changed, and held by nothing but waves. */
  due(key: string, configs: readonly string[]): void {
    const before = this.#remove(key);
    this.#due.set(key, configs);
    for (const config of configs) {
      const group = this.#groups.get(config) ?? new WaveGroup(this.#namespace, config);
      this.#groups.set(config, group);
      group.due.add(key);
    }
    this.#drop(before);
    this.touch([...before, ...configs]);
  }

  /** A workload is written, or not due any more, or held by something else, or gone. */
  leave(key: string): void {
    const before = this.#remove(key);
    this.#drop(before);
    this.touch(before);
  }

  /** Something may have changed of workloads that read the objects of these keys. */
  touch(configs: Iterable<string>): void {
    let touched = false;
    for (const config of configs) {
      const group = this.#groups.get(config);
      if (group === undefined) continue;
      group.isStale = true;
      touched = true;
    }
    if (touched) this.#lookIn(Math.max(soonestMs, this.#looked / membersAMillisecond));
  }

  /** Something may have changed of a workload of which it is not known what it reads. */
  touchAll(): void {
    this.touch(this.#groups.keys());
  }

  /** Nobody goes any more. */
  close(): void {
    this.#timer?.cancel();
    this.#groups.clear();
  }

  #remove(key: string): readonly string[] {
    const configs = [...(this.#due.get(key) ?? []), ...(this.#going.get(key)?.configs ?? [])];
    this.#due.delete(key);
    this.#going.delete(key);
    for (const config of configs) {
      this.#groups.get(config)?.due.delete(key);
      this.#groups.get(config)?.going.delete(key);
    }
    return configs;
  }

  /** Forgets those of these changes for which nobody waits or goes. */
  #drop(configs: readonly string[]): void {
    for (const config of configs) {
      const group = this.#groups.get(config);
      if (group !== undefined && group.due.size + group.going.size === 0) this.#groups.delete(config);
    }
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
    const { clock } = this.#options;
    this.#looked = 0;
    for (const [config, group] of this.#groups) {
      if (group.isStale || group.again <= clock.wall()) this.#find(config, group);
    }
    // All of one moment: nobody is let go into a place that was taken since.
    for (const [key, configs] of this.#mayGo()) this.#letGo(key, configs);
    const times = this.#groups.values().map(({ isStale, again }) => (isStale ? Number.POSITIVE_INFINITY : again));
    const next = Math.min(...times);
    if (Number.isFinite(next)) this.#lookIn(next - clock.wall());
  }

  #find(config: string, group: WaveGroup): void {
    const { readers, changeOf } = this.#options;
    const wasHalted = group.isHalted;
    const keys = new Set([...readers(this.#namespace, config), ...group.due, ...group.going]);
    this.#looked += keys.size;
    group.find(keys, changeOf(group.object), (key) => this.#inLine(key, config), this.#options);
    // Whoever is still to be planned touches it then.
    if (group.isStale) this.#lookIn(longestPutOffMs);
    else if (group.isHalted !== wasHalted) this.#tellMembers(config, group);
    if (group.isHalted) this.#tellOfHalt(group);
    else group.haltToldAt = undefined;
  }

  #tellMembers(config: string, { due, go }: WaveGroup): void {
    for (const key of due) {
      if (!go.has(key)) this.#options.onChange(key, "low");
      // Who is halted for one change is waited for by no other.
      this.touch(this.#due.get(key)?.filter((other) => other !== config) ?? []);
    }
  }

  #tellOfHalt(group: WaveGroup): void {
    const now = this.#options.clock.monotonic();
    if (group.haltToldAt !== undefined && now < group.haltToldAt + tellAgainMs) return;
    group.haltToldAt = now;
    this.#options.onHalted({ object: group.object, namespace: this.#namespace, failed: group.failed });
  }

  #inLine(key: string, config: string): InLine {
    const going = this.#going.get(key);
    if (going?.configs.includes(config)) return { since: going.since };
    const configs = this.#due.get(key);
    if (!configs?.includes(config)) return "no";
    const isHalting = (other: string) => {
      const group = this.#groups.get(other);
      return other !== config && group !== undefined && group.isHalted && !group.go.has(key);
    };
    return configs.some(isHalting) ? "haltedElsewhere" : "due";
  }

  /** Those that each of their changes lets go, in order. */
  #mayGo(): ReadonlyMap<string, readonly string[]> {
    const mayGo = new Map<string, readonly string[]>();
    const lets = (config: string, key: string) => {
      const group = this.#groups.get(config);
      return group !== undefined && !group.isStale && group.go.has(key);
    };
    for (const { go } of this.#groups.values()) {
      for (const key of go) {
        const configs = this.#due.get(key);
        if (configs?.every((config) => lets(config, key))) mayGo.set(key, configs);
      }
    }
    return mayGo;
  }

  #letGo(key: string, configs: readonly string[]): void {
    this.#remove(key);
    this.#going.set(key, { configs, since: this.#options.clock.wall() });
    for (const config of configs) this.#groups.get(config)?.going.add(key);
    this.touch(configs);
    this.#options.onChange(key, "high");
  }
}
