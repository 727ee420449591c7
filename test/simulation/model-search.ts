import type { ConfigTimeline } from "./model-configs.ts";
import { hashOf } from "./model-hash.ts";
import type { Named } from "./model-workload.ts";
import type { StoredObject } from "./record.ts";

/** The number of the state of each object in the timeline, by the key of the object. */
export type Moment = ReadonlyMap<string, number>;

/** The hash and readiness of the configuration of one moment. */
export interface Stood {
  /** Undefined if nothing is read. */
  readonly hash: string | undefined;
  /** Whether something required is missing. */
  readonly missing: boolean;
}

/** Returns what new Pods would see at a moment. */
export function standsFor(named: readonly Named[], lookup: (key: string) => StoredObject | undefined): Stood {
  const parts = named.map(({ key, partOf }) => partOf(lookup(key)));
  const hash = parts.some(({ read }) => read) ? hashOf(parts.map(({ bytes }) => bytes)) : undefined;
  return { hash, missing: parts.some(({ missing }) => missing) };
}

/** The range of states of each object to search; both ends are included. */
export interface Range {
  readonly from: (key: string) => number;
  readonly to: (key: string) => number;
}

/** Which of several equal states is returned. */
type Wanted = "earliest" | "latest";

/** States of an object that show the same content. */
interface Alike {
  readonly bytes: Buffer;
  readonly number: number;
}

/** The maximum number of combinations to try. Beyond this number the judge assumes that the hash is correct. */
const most = 50_000;

/**
 * Returns the states of the objects that a hash matches: for each object the earliest (or latest) matching state in the
 * range. Each object may have been read at a different moment, because each has its own watch or read. States in which
 * something required is missing are skipped unless `incomplete`. Returns undefined if no states match.
 */
export function search(
  hash: string,
  named: readonly Named[],
  timeline: Pick<ConfigTimeline, "versions">,
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
  timeline: Pick<ConfigTimeline, "versions">,
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
  // Newest first, because most searches are for the newest state.
  return [...found.values()].reverse();
}
