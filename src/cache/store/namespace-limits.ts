import type { Config } from "../../domain/config/digest.ts";
import type { PodStatus } from "../../domain/config/pod-status.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { limits } from "../../domain/references/limits.ts";
import { mayBeShared } from "./shared-lists.ts";

/** What the caches keep of an object. */
type Kept = Config | Workload | PodStatus;

interface Allotment {
  bytes: number;
  /** How many of its objects are kept by their name alone. */
  leftOut: number;
}

const mebibyte = 2 ** 20;

/** A namespace must have so much room again before what was left out is asked for. */
const worthAsking = 0.9;

/**
 * How much memory each namespace has in the caches. A workload of 8 KiB can name a thousand objects, which takes 40
 * times as much here, and only a quota keeps a tenant from making thousands of such workloads. So of an object that
 * goes beyond the budget of its namespace only the name is kept, and nothing is decided from it.
 *
 * Room is taken when an object is seen and given back when it is gone. Where a list breaks off, what it brought is
 * counted twice: the namespace has that much less room until Wave starts again.
 */
export class Allotments {
  readonly #byNamespace = new Map<string, Allotment>();

  /**
   * What is to be kept in the place of `before`: `after`, or what `reduce` makes of it where its namespace would be too
   * large, by the MiB that this would have.
   */
  take<K extends Kept>(before: K | undefined, after: K, reduce: (mebibytes: number) => K): K {
    const grows = bytesOf(after) > bytesOf(before);
    const bytes = this.#of(after.namespace).bytes + bytesOf(after) - bytesOf(before);
    const kept = grows && bytes > limits.namespace.most * mebibyte ? reduce(Math.ceil(bytes / mebibyte)) : after;
    this.#change(after.namespace, before, kept);
    return kept;
  }

  /** Gives back what was taken for an object that is gone. */
  giveBack(gone: Kept): void {
    this.#change(gone.namespace, gone, undefined);
  }

  /** How many objects are kept by their name alone. */
  get leftOut(): number {
    return this.#byNamespace.values().reduce((sum, { leftOut }) => sum + leftOut, 0);
  }

  /** Whether objects of a namespace were left out for which there may be room by now. */
  hasRoom(namespace: string): boolean {
    const { bytes, leftOut } = this.#of(namespace);
    return leftOut > 0 && bytes < worthAsking * limits.namespace.most * mebibyte;
  }

  /** Whether it is so in any namespace. */
  get hasRoomAnywhere(): boolean {
    return this.#byNamespace.keys().some((namespace) => this.hasRoom(namespace));
  }

  #of(namespace: string): Allotment {
    return this.#byNamespace.get(namespace) ?? { bytes: 0, leftOut: 0 };
  }

  #change(namespace: string, before: Kept | undefined, after: Kept | undefined): void {
    const { bytes, leftOut } = this.#of(namespace);
    const allotment = {
      bytes: bytes + bytesOf(after) - bytesOf(before),
      leftOut: leftOut + Number(isLeftOut(after)) - Number(isLeftOut(before)),
    };
    if (allotment.bytes > 0) this.#byNamespace.set(namespace, allotment);
    else this.#byNamespace.delete(namespace);
  }
}

/** Whether an object is kept by its name alone, because its namespace has no room. */
export function isLeftOut(kept: Kept | undefined): boolean {
  return kept?.limitExceeded?.budget === "namespace";
}

/** About so many bytes of the heap, with what the index has and what each plan makes of it; names cost their length besides. */
const cost = { config: 150, podStatus: 250, workload: 200, reference: 900, text: 56 };

function bytesOf(kept: Kept | undefined): number {
  if (kept === undefined) return 0;
  if ("mountedAs" in kept) return cost.podStatus + kept.className.length + kept.pod.length;
  return "digests" in kept ? bytesOfConfig(kept) : bytesOfWorkload(kept);
}

function bytesOfConfig({ name, keys, digests, sharedWith = "" }: Config): number {
  const own = cost.config + name.length + sharedWith.length + digests.length;
  return mayBeShared(keys) ? own : own + bytesOfTexts(keys);
}

function bytesOfWorkload(workload: Workload): number {
  const { name, references, extras, recordedConfig, notedClasses, disabledScheduler, policy, foreign, templateSource } =
    workload;
  const texts = [
    name,
    ...Object.values(extras),
    recordedConfig,
    notedClasses,
    disabledScheduler,
    ...Object.values(policy),
    ...foreignTexts(foreign),
    ...(templateSource === undefined
      ? []
      : [templateSource.apiVersion, templateSource.kind, templateSource.name, templateSource.known]),
  ];
  const own = texts.reduce<number>((sum, text) => sum + (text?.length ?? 0), cost.workload);
  return references.reduce((sum, { name: named, keys }) => {
    return sum + cost.reference + 2 * named.length + (keys === "all" ? 0 : bytesOfTexts(keys));
  }, own);
}

/** An expression is kept beside the annotation that has it, and in the index. */
function foreignTexts(foreign: Workload["foreign"]): readonly string[] {
  if (foreign === undefined) return [];
  const expressions = foreign.patterns.flatMap(({ source, path }) => [source, source, path]);
  return [...Object.values(foreign.annotations), ...expressions, ...Object.values(foreign.excluded).flat()];
}

function bytesOfTexts(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + cost.text + text.length, 0);
}
