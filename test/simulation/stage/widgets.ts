import { parseRequestedKind, type RequestedKind } from "../../../src/domain/model/kinds/requested-kind.ts";
import type { Random } from "./random.ts";

const wanted = parseRequestedKind("widgets.example.com");

/** What `--workload-kinds` names where there are Widgets. */
export const widgets: readonly RequestedKind[] = wanted === undefined ? [] : [wanted];

/** Wave looks every 30 s, by a clock that may be 3 % slow, whether they are there and can be listed. */
export const findingMs = 35_000;

/**
 * When the API of Widgets is there, in virtual milliseconds; undefined: there are none, as in four fifths of all runs. In
 * half of the others it is there from the beginning. It does not go again.
 */
export function chooseWidgets(random: Random, calmAt: number): number | undefined {
  if (!random.chance(0.2)) return undefined;
  return random.chance(0.5) ? 0 : random.between(0, calmAt);
}
