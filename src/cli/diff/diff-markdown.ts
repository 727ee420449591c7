import type { Change } from "../../domain/config/view-of-references.ts";
import { formatCount } from "../../domain/syntax/names.ts";
import { printable } from "../../lib/printable.ts";
import { diffEffects } from "./planned-pair.ts";
import { type Difference, describeReason, describeSummary, type WorkloadDifference } from "./workload-difference.ts";

/** A comment on a GitHub pull request has at most 65,536 characters. Rows beyond the limit are only counted. */
const mostCharacters = 60_000;
const mostRows = 100;
const mostKeys = 20;

/** Renders a difference as a comment on a pull request. Code spans hold names, which thus cannot be links, mentions, images or HTML. */
export function diffMarkdown(difference: Difference, rows = mostRows): string {
  const { workloads, notes } = difference;
  const shown = workloads.slice(0, rows);
  const more = workloads.length - shown.length;
  const blocks = [
    [`**Wave:** ${describeSummary(difference)}`],
    shown.length === 0 ? [] : table(shown),
    more > 0 ? [`… and ${formatCount(more)} more.`] : [],
    shown.length === 0 ? [] : details("Changes and effects", [...shown.flatMap(changesOf), ...legend(shown)]),
    notes.length === 0
      ? []
      : details(
          "Notes",
          notes.slice(0, rows).map((note) => `- ${code(note)}`),
        ),
  ];
  const text = blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
  return text.length > mostCharacters && rows > 1 ? diffMarkdown(difference, rows >> 1) : `${text}\n`;
}

function table(workloads: readonly WorkloadDifference[]): readonly string[] {
  const rows = workloads.map((each) => {
    const name = `${each.namespace} ${each.kind.toLowerCase()}/${each.name}`;
    return `| ${each.batch ?? "–"} | ${inCell(name)} | ${each.effect} | ${inCell(describeReason(each))} |`;
  });
  return ["| Batch | Workload | Effect | Reason |", "|---:|---|---|---|", ...rows];
}

function details(summary: string, lines: readonly string[]): readonly string[] {
  return ["<details>", `<summary>${summary}</summary>`, "", ...lines, "", "</details>"];
}

function changesOf({ namespace, kind, name, changes }: WorkloadDifference): readonly string[] {
  if (changes.length === 0) return [];
  const workload = code(`${namespace} ${kind.toLowerCase()}/${name}`);
  return [
    `- ${workload}`,
    ...changes.slice(0, mostKeys).map((change) => `  - ${changeOf(change)}`),
    ...(changes.length > mostKeys ? [`  - and ${formatCount(changes.length - mostKeys)} more`] : []),
  ];
}

function changeOf({ kind, namespace, name, how, keys }: Change): string {
  const named = keys.slice(0, mostKeys).map(code).join(", ");
  const more = keys.length > mostKeys ? ` and ${formatCount(keys.length - mostKeys)} more` : "";
  return `${code(`${kind} ${namespace}/${name}`)} ${how}${named === "" ? "" : `: ${named}${more}`}`;
}

function legend(workloads: readonly WorkloadDifference[]): readonly string[] {
  const present = new Set(workloads.map(({ effect }) => effect));
  return ["", ...[...present].map((effect) => `- \`${effect}\`: ${diffEffects[effect]}`)];
}

/** Returns a code span for any text (https://spec.commonmark.org/0.31.2/#code-spans). Its fence is longer than any run of backticks in the text. */
function code(text: string): string {
  const line = printable(text);
  const longest = (line.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
  const fence = "`".repeat(longest + 1);
  return longest === 0 && line.trim() !== "" ? fence + line + fence : `${fence} ${line} ${fence}`;
}

/** Returns a code span for a table cell, with escaped bars. */
function inCell(text: string): string {
  return code(text).replaceAll("|", "\\|");
}
