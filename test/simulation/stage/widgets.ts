import { parseRequestedKind, type RequestedKind } from "../../../src/domain/model/kinds/requested-kind.ts";
import type { Random } from "./random.ts";

const wanted = parseRequestedKind("widgets.example.com");

/** The value of `--workload-kinds` if Widgets exist. */
export const widgets: readonly RequestedKind[] = wanted === undefined ? [] : [wanted];

/** How often Wave checks whether they exist and can be listed: every 30 s, by a clock that may be 3 % slow. */
export const findingMs = 35_000;

/**
 * Returns when the API of Widgets appears, in virtual milliseconds; undefined: never, as in four fifths of all runs. In half
 * of the other runs it exists from the start. The API does not disappear again.
 */
export function chooseWidgets(random: Random, calmAt: number): number | undefined {
  if (!random.chance(0.2)) return undefined;
  return random.chance(0.5) ? 0 : random.between(0, calmAt);
}
