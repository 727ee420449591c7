import type { Config } from "../../domain/config/digest.ts";
import type { PodStatus } from "../../domain/config/pod-status.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { type LimitExceeded, limits } from "../../domain/references/references.ts";

/** What the caches keep for an object. */
type CachedValue = Config | Workload | PodStatus;

interface NamespaceUsage {
  readonly bytes: number;
  /** Objects that are cached by name only. */
  readonly leftOut: number;
}

const mebibyte = 2 ** 20;

/** The memory of Wave without its caches at the peak, in bytes: the process, its connections, and the objects that it reads. */
const withoutCaches = 88 * mebibyte;
/** The share of the remaining memory that the caches may use by their approximate sizes. The heap needs the rest. */
const cacheShare = 0.8;

/** The share of what other namespaces leave that one namespace may use. */
const leftShare = 2 / 3;

/** Returns how many bytes all caches together may use with this memory limit of the process; infinity without a limit. */
export function cacheBytesFor(memoryLimit: number | undefined): number {
  if (memoryLimit === undefined || memoryLimit <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(limits.namespace.max * mebibyte, cacheShare * (memoryLimit - withoutCaches));
}

/** How a namespace exceeds its limit. */
export type NamespaceExceeded = Pick<LimitExceeded, "limit" | "count" | "max">;

/** Objects that were left out are listed again when their namespace uses less than this share of its limit. */
const relistBelow = 0.9;

/**
 * Tracks and limits the memory that the caches use for each namespace.
 *
 * A workload of 8 KiB can name 1,000 objects, which take 40 times as much memory here. Only a quota limits how many such
 * workloads a tenant creates. If an object exceeds the limit of its namespace, the caches keep only its name, and Wave
 * decides nothing from it.
 *
 * All namespaces together have a limit, too. Each may use two thirds of what the others leave. So the limit is never exceeded, and a namespace
 * with little configuration finds room, however many are full.
 */
export class NamespaceLimits {
  readonly #byNamespace = new Map<string, NamespaceUsage>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes` is for all namespaces together. */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the value to cache in place of `before`: `after`, or `reduce(…)` if `after` is larger than `before` and its
   * namespace would exceed the limit. The argument of `reduce` has the size that the namespace would have, in MiB.
   */
  fit<V extends CachedValue>(before: V | undefined, after: V, reduce: (exceeded: NamespaceExceeded) => V): V {
    const growth = bytesOf(after) - bytesOf(before);
    const bytes = this.#usageOf(after.namespace).bytes + growth;
    const max = this.#maxOf(after.namespace);
    if (growth <= 0 || bytes <= max) return after;
    const isLower = max < limits.namespace.max * mebibyte;
    const count = Math.ceil(bytes / mebibyte);
    return reduce({ limit: "namespace", count, ...(isLower && { max: Math.floor(max / mebibyte) }) });
  }

  /** Records that `after` is cached in place of `before`. Undefined: no value. See {@link StoreOptions.onReplaced}. */
  readonly record = (before: CachedValue | undefined, after: CachedValue | undefined): void => {
    const namespace = (after ?? before)?.namespace;
    if (namespace === undefined) return;
    const { bytes, leftOut } = this.#usageOf(namespace);
    const growth = bytesOf(after) - bytesOf(before);
    this.#bytes += growth;
    const usage = {
      bytes: bytes + growth,
      leftOut: leftOut + Number(isLeftOut(after)) - Number(isLeftOut(before)),
    };
    if (usage.bytes > 0) this.#byNamespace.set(namespace, usage);
    else this.#byNamespace.delete(namespace);
  };

  /** Number of objects that are cached by name only. */
  get leftOut(): number {
    return this.#byNamespace.values().reduce((sum, { leftOut }) => sum + leftOut, 0);
  }

  /** Reports whether objects of a namespace were left out and may fit now. */
  hasRoom(namespace: string): boolean {
    const { bytes, leftOut } = this.#usageOf(namespace);
    return leftOut > 0 && bytes < relistBelow * this.#maxOf(namespace);
  }

  /** Reports whether {@link hasRoom} is true for at least one namespace. */
  get hasRoomAnywhere(): boolean {
    return this.#byNamespace.keys().some((namespace) => this.hasRoom(namespace));
  }

  /** Returns how many bytes a namespace may use now. */
  #maxOf(namespace: string): number {
    const others = this.#bytes - this.#usageOf(namespace).bytes;
    return Math.min(limits.namespace.max * mebibyte, leftShare * (this.#maxBytes - others));
  }

  #usageOf(namespace: string): NamespaceUsage {
    return this.#byNamespace.get(namespace) ?? { bytes: 0, leftOut: 0 };
  }
}

/** Reports whether an object is cached by name only, because its namespace exceeds the limit. */
export function isLeftOut(cached: CachedValue | undefined): boolean {
  return cached?.limitExceeded?.limit === "namespace";
}

/**
 * Approximate heap cost in bytes, including the index entries and what each plan allocates. Add the length of each name.
 */
const cost = { config: 150, podStatus: 250, workload: 200, reference: 900, text: 56 };

function bytesOf(cached: CachedValue | undefined): number {
  if (cached === undefined) return 0;
  if ("mountedAs" in cached) return cost.podStatus + cached.className.length + cached.pod.length;
  return "digests" in cached ? bytesOfConfig(cached) : bytesOfWorkload(cached);
}

function bytesOfConfig({ name, keys, digests, sharedWith = "" }: Config): number {
  const own = cost.config + name.length + sharedWith.length + digests.length;
  return isShareable(keys) ? own : own + bytesOfTexts(keys);
}

function bytesOfWorkload(workload: Workload): number {
  const { name, references, plannedAnnotations, peer, templateSource } = workload;
  // These annotations share their texts with the other fields of the workload.
  const texts = [
    name,
    ...Object.values(plannedAnnotations),
    ...peerTexts(peer),
    ...(templateSource === undefined
      ? []
      : [templateSource.apiVersion, templateSource.kind, templateSource.name, templateSource.observed]),
  ];
  const own = texts.reduce<number>((sum, text) => sum + text.length, cost.workload);
  return references.reduce((sum, { name: named, keys }) => {
    return sum + cost.reference + 2 * named.length + (keys === "all" ? 0 : bytesOfTexts(keys));
  }, own);
}

/** A regular expression is stored twice: with its annotation and in the index. */
function peerTexts(peer: Workload["peer"]): readonly string[] {
  if (peer === undefined) return [];
  const expressions = peer.patterns.flatMap(({ source, path }) => [source, source, path]);
  return [...expressions, ...Object.values(peer.excluded).flat()];
}

function bytesOfTexts(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + cost.text + text.length, 0);
}

/** Maximum number of shared lists. Above it the table is cleared, so that changing names do not accumulate over months. */
const maxLists = 1_000;
/** Longer lists rarely occur twice, and a table of them would grow with user input (up to 40 MiB was measured). */
const longestList = { strings: 16, characters: 256 };

/**
 * Keeps one copy of each short list that many objects have: most Secrets have one of a few sets of keys. Uses less than
 * 1 MiB for any input.
 */
export class SharedLists {
  readonly #lists = new Map<string, readonly string[]>();

  /** Returns the shared copy of a short list with the same strings in the same order. Returns a long list unchanged. */
  list(texts: readonly string[]): readonly string[] {
    if (!isShareable(texts)) return texts;
    const key = texts.join("\n");
    const shared = this.#lists.get(key);
    if (shared?.length === texts.length && shared.every((text, index) => text === texts[index])) return shared;
    if (this.#lists.size >= maxLists) this.#lists.clear();
    this.#lists.set(key, texts);
    return texts;
  }
}

/** Reports whether a list is short enough to be shared. */
function isShareable(texts: readonly string[]): boolean {
  if (texts.length > longestList.strings) return false;
  return texts.reduce((sum, text) => sum + text.length + 1, -1) <= longestList.characters;
}
