import { formatCount } from "../../../domain/syntax/wording.ts";
import type { Paint } from "../../output/paint.ts";
import { printable } from "../../output/printable.ts";
import { tableLines } from "../../output/table.ts";
import type { KeyDifference, RevisionDifference } from "./revision-difference.ts";

/** How many lines of one value are shown before and after. JSON has whole values. */
const shownLines = 50;

/** Returns the keys that differ as a table, followed by their values if they are requested. */
export function renderRevisionDifference(
  { differences, notes }: RevisionDifference,
  revision: number,
  paint: Paint,
): string {
  const rows = differences.map(({ configMap, key, how }) => [configMap, key, how]);
  const table = tableLines([["CONFIGMAP", "KEY", "CHANGE"], ...rows], 3, (text, row) =>
    row === 0 ? paint("bold", text) : text,
  );
  return [
    ...(differences.length === 0 ? [] : [...table, ""]),
    ...differences.flatMap((each) => valueLines(each, paint)),
    summary(differences.length, revision),
    ...notes.map((note) => `Note: ${printable(note)}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function summary(count: number, revision: number): string {
  const keys = count === 0 ? "No key differs" : count === 1 ? "1 key differs" : `${formatCount(count)} keys differ`;
  return `${keys} between revision ${revision} and the current configuration.`;
}

/** Returns the lines of a value that differ; empty if values are not requested. */
function valueLines({ configMap, key, before, after }: KeyDifference, paint: Paint): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const { removed, added } = changedLines(before, after);
  return [
    paint("bold", printable(`${configMap}/${key}`)),
    ...shown(removed).map((line) => paint("red", printable(`- ${line}`))),
    ...shown(added).map((line) => paint("green", printable(`+ ${line}`))),
    "",
  ];
}

function shown(lines: readonly string[]): readonly string[] {
  const rest = lines.length - shownLines;
  return rest <= 0 ? lines : [...lines.slice(0, shownLines), `… ${formatCount(rest)} more lines`];
}

/** The lines that differ between two texts. */
interface ChangedLines {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Returns the lines between the first and the last difference. Takes time in proportion to the texts. Null is no text. */
export function changedLines(before: string | null, after: string | null): ChangedLines {
  const [old, current] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, current.length);
  let start = 0;
  while (start < shorter && old[start] === current[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === current[current.length - 1 - end]) end++;
  return { removed: old.slice(start, old.length - end), added: current.slice(start, current.length - end) };
}

/** A final line feed begins one more line, so that a text with it differs from one without it. */
function linesOf(text: string | null): readonly string[] {
  return text === null ? [] : text.split("\n");
}
