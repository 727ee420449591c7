import type { ConfigTimeline } from "./model-configs.ts";
import { hashOf } from "./model-hash.ts";
import type { Named } from "./model-workload.ts";
import type { StoredObject } from "./record.ts";

/** For each object, by its key, the number of its state in the timeline. */
export type Moment = ReadonlyMap<string, number>;

/** What the configuration of one moment comes to. */
export interface Stood {
  /** Undefined where nothing is read. */
  readonly hash: string | undefined;
  /** Something required is missing. */
  readonly missing: boolean;
}

/** What new Pods would see at a moment. */
export function standsFor(named: readonly Named[], lookup: (key: string) => StoredObject | undefined): Stood {
  const parts = named.map(({ key, partOf }) => partOf(lookup(key)));
  const hash = parts.some(({ read }) => read) ? hashOf(parts.map(({ bytes }) => bytes)) : undefined;
  return { hash, missing: parts.some(({ missing }) => missing) };
}

/** Between which states of each object to look; both ends belong to it. */
export interface Range {
  readonly from: (key: string) => number;
  readonly to: (key: string) => number;
}

/** Which end of equal states is wanted. */
type Wanted = "earliest" | "latest";

/** States of an object that show the same. */
interface Alike {
  readonly bytes: Buffer;
  readonly number: number;
}

/** So many combinations are tried at most; with more, whoever is judged gets the benefit of the doubt. */
const most = 50_000;

/**
 * For which states of the objects a hash stands: of each object the earliest (or latest) in the range that shows what it
 * needs to. Each object may have been seen at a moment of its own, since each has a watch or a read of its own. States in
 * which something required is missing do not count unless `incomplete`. Undefined: it stands for none of them.
 */
export function search(
  hash: string,
  named: readonly Named[],
  timeline: ConfigTimeline,
  range: Range,
  options: { readonly wanted?: Wanted; readonly incomplete?: boolean } = {},
): Moment | "too many" | undefined {
  const { wanted = "earliest", incomplete = false } = options;
  const choices = named.map((one) => alike(one, timeline, range, wanted, incomplete));
  const combinations = choices.reduce((product, { length }) => product * length, 1);
  if (combinations > most) return "too many";
  const chosen: Alike[] = [];
  const tryFrom = (position: number): boolean => {
    if (position === choices.length) return hashOf(chosen.map(({ bytes }) => bytes)) === hash;
    for (const choice of choices[position] ?? []) {
      chosen[position] = choice;
      if (tryFrom(position + 1)) return true;
    }
    return false;
  };
  if (!tryFrom(0)) return undefined;
  return new Map(named.map(({ key }, position) => [key, chosen[position]?.number ?? 0]));
}

function alike(
  { key, partOf }: Named,
  timeline: ConfigTimeline,
  { from, to }: Range,
  wanted: Wanted,
  incomplete: boolean,
): readonly Alike[] {
  const found = new Map<string, Alike>();
  const [first, last] = [from(key), to(key)];
  for (let number = first; number <= last; number++) {
    const { bytes, missing } = partOf(timeline.versions(key)[number]?.object);
    if (missing && !incomplete) continue;
    const name = bytes.toString("latin1");
    if (wanted === "latest" || !found.has(name)) found.set(name, { bytes, number });
  }
  // The newest first: it is what is looked for most often.
  return [...found.values()].reverse();
}
