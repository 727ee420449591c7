// Which workloads read an object: by reference, by regular expression, and as an owner. In memory; knows no requests.

import type { NamesMatching, PatternReference } from "../../domain/compatibility/directive.ts";
import { readNamePattern } from "../../domain/compatibility/stakater-directives.ts";
import type { Config } from "../../domain/config/digest.ts";
import { type ConfigKind, type ConfigName, limits, parseConfigKey } from "../../domain/references/references.ts";
import { sharedString } from "../../domain/syntax/json.ts";
import type { StoreChange } from "../store/store.ts";

/** The keys of the workloads that read an object. A single reader, which is the usual case, is stored without a Set. */
type Readers = string | Set<string>;

/**
 * Maps workloads to the ConfigMaps and Secrets that they read, and back, whether these exist or not. Each key is stored once, as
 * a shared string.
 */
export class ReferenceIndex {
  /** The keys of the objects that each workload reads, each once. */
  readonly #configs = new Map<string, readonly string[]>();
  readonly #readers = new Map<string, Readers>();

  /** Replaces the objects that a workload reads; none: removes it. The cost is proportional to the old and new keys. Same keys: no change. */
  set(workloadKey: string, configKeys: readonly string[]): void {
    const before = this.#configs.get(workloadKey) ?? [];
    const keys = new Set(configKeys);
    if (before.length === keys.size && before.every((key) => keys.has(key))) return;
    const workload = sharedString(workloadKey);
    for (const key of before) if (!keys.has(key)) this.#removeReader(key, workload);
    // An array from `Array.from` would have room for more.
    const configs = [...keys].map(sharedString);
    for (const key of configs) this.#addReader(key, workload);
    if (configs.length === 0) this.#configs.delete(workload);
    else this.#configs.set(workload, configs);
  }

  /** Returns the keys of the workloads that read an object. Do not change the index while you iterate over them. */
  workloadsOf(configKey: string): Iterable<string> {
    const readers = this.#readers.get(configKey);
    if (readers === undefined) return [];
    return typeof readers === "string" ? [readers] : readers.values();
  }

  /** Number of workloads and of objects. Nothing remains of removed ones. */
  get size(): { readonly workloads: number; readonly configs: number } {
    return { workloads: this.#configs.size, configs: this.#readers.size };
  }

  #addReader(config: string, workload: string): void {
    const readers = this.#readers.get(config);
    if (readers === undefined) this.#readers.set(config, workload);
    else if (typeof readers !== "string") readers.add(workload);
    else if (readers !== workload) this.#readers.set(config, new Set([readers, workload]));
  }

  #removeReader(config: string, workload: string): void {
    const readers = this.#readers.get(config);
    if (typeof readers === "object") readers.delete(workload);
    if (readers === workload || (typeof readers === "object" && readers.size === 0)) this.#readers.delete(config);
  }
}

interface PatternEntry {
  readonly kind: ConfigKind;
  readonly size: number;
  readonly matches: (name: string) => boolean;
  /** The matching names in its namespace; undefined if matching took too much effort. */
  readonly names: Set<string> | undefined;
  readonly readers: Set<string>;
}

/**
 * Maximum effort to match all names of a namespace for all new expressions of one workload, in steps times characters. One unit takes 10 ns
 * for ordinary expressions, and at most 500 ns. Enough for "app-.*" over 5,000 names.
 */
const maxEffort = 1_500_000;

/** The effort that one workload has already caused. */
interface Effort {
  spent: number;
}

/**
 * Maps the regular expressions of workloads to the objects that they match. For an edit of an object, each distinct expression of
 * its namespace is looked up once. An object is matched only when it is created or deleted. A namespace has a limit of
 * expressions. So an edit costs the same for ten thousand workloads as for one.
 */
export class PatternIndex {
  /** By namespace, then by kind and source. */
  readonly #entries = new Map<string, Map<string, PatternEntry>>();
  /** By key of the workload, for workloads with expressions. */
  readonly #workloads = new Map<string, { readonly namespace: string; readonly ids: ReadonlySet<string> }>();
  readonly #names: (kind: ConfigKind, namespace: string) => Iterable<string>;

  /** `names` returns the names of the existing objects of a kind in a namespace. */
  constructor(names: (kind: ConfigKind, namespace: string) => Iterable<string>) {
    this.#names = names;
  }

  /** Replaces the expressions of a workload. Ignores expressions that exceed the limit of the namespace. */
  set(workloadKey: string, namespace: string, patterns: readonly PatternReference[]): void {
    const before = this.#workloads.get(workloadKey);
    if (before === undefined && patterns.length === 0) return;
    const ids = new Set(patterns.map(idOf));
    for (const id of before?.ids ?? []) if (!ids.has(id)) this.#removeReader(namespace, id, workloadKey);
    const effort: Effort = { spent: 0 };
    for (const pattern of patterns) {
      const entry = this.#entries.get(namespace)?.get(idOf(pattern)) ?? this.#createEntry(namespace, pattern, effort);
      if (entry === undefined) continue;
      entry.readers.add(workloadKey);
      const ofNamespace = this.#entries.get(namespace) ?? new Map<string, PatternEntry>();
      this.#entries.set(namespace, ofNamespace.set(idOf(pattern), entry));
    }
    if (ids.size === 0) this.#workloads.delete(workloadKey);
    else this.#workloads.set(workloadKey, { namespace, ids });
  }

  added({ kind, namespace, name }: ConfigName): void {
    for (const entry of this.#of(namespace)) if (entry.kind === kind && entry.matches(name)) entry.names?.add(name);
  }

  removed({ kind, namespace, name }: ConfigName): void {
    for (const entry of this.#of(namespace)) if (entry.kind === kind) entry.names?.delete(name);
  }

  /** See {@link NamesMatching}. Matches expressions of unknown workloads without storing the result. */
  readonly namesMatching: NamesMatching = (namespace, patterns) => {
    const known = this.#entries.get(namespace);
    const effort: Effort = { spent: 0 };
    const all: Iterable<string>[] = [];
    for (const pattern of patterns) {
      const names = (known?.get(idOf(pattern)) ?? this.#createEntry(namespace, pattern, effort))?.names;
      if (names === undefined) return "tooMuchWork";
      all.push(names);
    }
    return all;
  };

  /** Returns the keys of the workloads with an expression that matches an object. Matches again an object that is gone. */
  *workloadsOf(configKey: string, exists: boolean): Iterable<string> {
    const { kind, namespace, name } = parseConfigKey(configKey);
    for (const entry of this.#of(namespace)) {
      if (entry.kind === kind && (exists ? entry.names?.has(name) : entry.matches(name))) yield* entry.readers;
    }
  }

  get isEmpty(): boolean {
    return this.#workloads.size === 0;
  }

  /** Number of workloads with expressions, and of expressions. Nothing remains of removed ones. */
  get size(): { readonly workloads: number; readonly expressions: number } {
    const expressions = this.#entries.values().reduce((sum, ofNamespace) => sum + ofNamespace.size, 0);
    return { workloads: this.#workloads.size, expressions };
  }

  #of(namespace: string): Iterable<PatternEntry> {
    return this.#entries.get(namespace)?.values() ?? [];
  }

  /** Returns the entry of an expression that is new in its namespace; undefined if the limit is reached. */
  #createEntry(namespace: string, { kind, source }: PatternReference, effort: Effort): PatternEntry | undefined {
    const pattern = readNamePattern(source);
    if (pattern.state === "invalid") return undefined;
    const { size, matches } = pattern;
    let all = size;
    for (const entry of this.#of(namespace)) all += entry.size;
    if (all > limits.patterns.max) return undefined;
    const names = new Set<string>();
    for (const name of this.#names(kind, namespace)) {
      effort.spent += size * (name.length + 1);
      if (effort.spent > maxEffort) return { kind, size, matches, names: undefined, readers: new Set() };
      if (matches(name)) names.add(name);
    }
    return { kind, size, matches, names, readers: new Set() };
  }

  #removeReader(namespace: string, id: string, workloadKey: string): void {
    const ofNamespace = this.#entries.get(namespace);
    const entry = ofNamespace?.get(id);
    entry?.readers.delete(workloadKey);
    if (entry?.readers.size === 0) ofNamespace?.delete(id);
    if (ofNamespace?.size === 0) this.#entries.delete(namespace);
  }
}

/** Returns a listener that updates the index with created and deleted objects before it calls `next`. */
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
