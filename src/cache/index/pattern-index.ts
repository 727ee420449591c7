import { type Effort, readNamePattern } from "../../domain/compatibility/name-pattern.ts";
import type { NamesMatching, PatternReference } from "../../domain/compatibility/settings.ts";
import type { Config } from "../../domain/config/digest.ts";
import { limits } from "../../domain/references/limits.ts";
import { type ConfigKind, type ConfigName, parseConfigKey } from "../../domain/references/references.ts";
import type { StoreChange } from "../store/store.ts";

interface Entry {
  readonly kind: ConfigKind;
  readonly size: number;
  readonly matches: (name: string, effort?: Effort) => boolean;
  /** Those of the names in its namespace that it matches; undefined where to find them took too much. */
  readonly names: Set<string> | undefined;
  /** The keys of the workloads that have it. */
  readonly readers: Set<string>;
}

/** How much matching all names of a namespace may take, for all new expressions of one workload: a tenth of a second. */
const mostEffort = 5_000_000;

/**
 * Which workloads name objects by regular expressions, and what these match. An edit of an object asks each of the different
 * expressions of its namespace once whether it is among what it matches; only an object that comes or goes is matched, by those
 * of its namespace, of which there is a budget. So ten thousand workloads cost an edit what one does.
 */
export class PatternIndex {
  /** By namespace, and there by kind and source. */
  readonly #entries = new Map<string, Map<string, Entry>>();
  /** Of each workload that has any. */
  readonly #workloads = new Map<string, { readonly namespace: string; readonly ids: ReadonlySet<string> }>();
  readonly #names: (kind: ConfigKind, namespace: string) => Iterable<string>;

  /** `names` tells what exists of a kind in a namespace. */
  constructor(names: (kind: ConfigKind, namespace: string) => Iterable<string>) {
    this.#names = names;
  }

  /** Replaces the expressions of a workload. What is beyond the budget of its namespace is not taken in. */
  set(workloadKey: string, namespace: string, patterns: readonly PatternReference[]): void {
    const before = this.#workloads.get(workloadKey);
    if (before === undefined && patterns.length === 0) return;
    const ids = new Set(patterns.map(idOf));
    for (const id of before?.ids ?? []) if (!ids.has(id)) this.#leave(namespace, id, workloadKey);
    const effort: Effort = { spent: 0 };
    for (const pattern of patterns) {
      const entry = this.#entries.get(namespace)?.get(idOf(pattern)) ?? this.#made(namespace, pattern, effort);
      if (entry === undefined) continue;
      entry.readers.add(workloadKey);
      const ofNamespace = this.#entries.get(namespace) ?? new Map<string, Entry>();
      this.#entries.set(namespace, ofNamespace.set(idOf(pattern), entry));
    }
    if (ids.size === 0) this.#workloads.delete(workloadKey);
    else this.#workloads.set(workloadKey, { namespace, ids });
  }

  /** To be told of each object that is new. */
  added({ kind, namespace, name }: ConfigName): void {
    for (const entry of this.#of(namespace)) if (entry.kind === kind && entry.matches(name)) entry.names?.add(name);
  }

  /** To be told of each object that is gone. */
  removed({ kind, namespace, name }: ConfigName): void {
    for (const entry of this.#of(namespace)) if (entry.kind === kind) entry.names?.delete(name);
  }

  /** See {@link NamesMatching}. What no workload in the caches has is matched for the occasion. */
  readonly namesMatching: NamesMatching = (namespace, patterns) => {
    const known = this.#entries.get(namespace);
    const effort: Effort = { spent: 0 };
    const all: Iterable<string>[] = [];
    for (const pattern of patterns) {
      const names = (known?.get(idOf(pattern)) ?? this.#made(namespace, pattern, effort))?.names;
      if (names === undefined) return undefined;
      all.push(names);
    }
    return all;
  };

  /** The keys of the workloads that have an expression which matches the object of a key; what is gone is matched anew. */
  *workloadsOf(configKey: string, isThere: boolean): Iterable<string> {
    const { kind, namespace, name } = parseConfigKey(configKey);
    for (const entry of this.#of(namespace)) {
      if (entry.kind === kind && (isThere ? entry.names?.has(name) : entry.matches(name))) yield* entry.readers;
    }
  }

  /** Whether no workload has any. */
  get isEmpty(): boolean {
    return this.#workloads.size === 0;
  }

  /** How many workloads have expressions, and how many expressions are kept: nothing is left of what is gone. */
  get size(): { readonly workloads: number; readonly expressions: number } {
    const expressions = this.#entries.values().reduce((sum, ofNamespace) => sum + ofNamespace.size, 0);
    return { workloads: this.#workloads.size, expressions };
  }

  #of(namespace: string): Iterable<Entry> {
    return this.#entries.get(namespace)?.values() ?? [];
  }

  /** What is known of a pattern that is new in its namespace; undefined where there is no room for it. */
  #made(namespace: string, { kind, source }: PatternReference, effort: Effort): Entry | undefined {
    const pattern = readNamePattern(source);
    if (pattern.state === "invalid") return undefined;
    const { size, matches } = pattern;
    let all = size;
    for (const entry of this.#of(namespace)) all += entry.size;
    if (all > limits.patterns.max) return undefined;
    const names = new Set<string>();
    for (const name of this.#names(kind, namespace)) {
      if (matches(name, effort)) names.add(name);
      if (effort.spent > mostEffort) return { kind, size, matches, names: undefined, readers: new Set() };
    }
    return { kind, size, matches, names, readers: new Set() };
  }

  #leave(namespace: string, id: string, workloadKey: string): void {
    const ofNamespace = this.#entries.get(namespace);
    const entry = ofNamespace?.get(id);
    entry?.readers.delete(workloadKey);
    if (entry?.readers.size === 0) ofNamespace?.delete(id);
    if (ofNamespace?.size === 0) this.#entries.delete(namespace);
  }
}

/** Has an index told of objects that come and go before anybody else is. */
export function notifyBeforeNext(
  patterns: PatternIndex,
  next: (change: StoreChange<Config>) => void,
): (change: StoreChange<Config>) => void {
  return (change) => {
    const { before, after } = change;
    if (before === undefined && after !== undefined) patterns.added(after);
    if (before !== undefined && after === undefined) patterns.removed(before);
    next(change);
  };
}

function idOf({ kind, source }: PatternReference): string {
  return `${kind}/${source}`;
}
