import { formatCount, formatList, quoted } from "../../domain/syntax/names.ts";
import { printable } from "../../lib/printable.ts";
import type { Style } from "../output/sentences.ts";
import { headedTable, joined, type Paint, wrappedBehind } from "../output/table.ts";
import type { CheckName } from "./checks/checks.ts";
import { type CheckResult, describeRef, type Finding, type Severity, severities } from "./context/finding.ts";

/** The output of `wave doctor -o json`; docs/commands.md promises its fields. */
export interface Diagnosis {
  readonly version: 1;
  readonly checks: readonly { readonly check: CheckName; readonly severity: Severity; readonly summary: string }[];
  readonly findings: readonly (Finding & { readonly check: CheckName })[];
}

/** Collects the results of all checks; findings are sorted, the worst first. */
export function diagnosisOf(results: readonly (readonly [CheckName, CheckResult])[]): Diagnosis {
  const findings = results.flatMap(([check, { found }]) => found.map((each) => ({ check, ...each })));
  return {
    version: 1,
    checks: results.map(([check, { found, fine = "" }]) => ({
      check,
      severity: worstOf(found),
      summary: summaryOf(found, fine),
    })),
    findings: findings.toSorted((a, b) => rank(a.severity) - rank(b.severity)),
  };
}

/** How many permissions the line names. */
const mostNeeds = 12;

/** Returns one line with the incomplete checks and the permissions that they need; undefined if all checks are complete. */
export function uncheckedIn({ findings }: Diagnosis): string | undefined {
  const left = findings.filter(({ severity }) => severity === "unchecked");
  if (left.length === 0) return undefined;
  const checks = [...new Set(left.map(({ check }) => check))];
  const needs = [...new Set(left.flatMap((each) => each.needs))];
  const what = `Incomplete checks: ${formatList(checks, checks.length, String)}.`;
  return needs.length === 0 ? what : `${what} Missing permissions: ${formatList(needs, mostNeeds, quoted)}.`;
}

const ranks = Object.keys(severities) as readonly Severity[];
const rank = (severity: Severity) => ranks.indexOf(severity);

function worstOf(found: readonly Finding[]): Severity {
  return ranks.find((severity) => found.some((each) => each.severity === severity)) ?? "ok";
}

function summaryOf(found: readonly Finding[], fine: string): string {
  if (found.length === 0) return fine;
  const counts = ranks.flatMap((severity) => {
    const count = found.filter((each) => each.severity === severity).length;
    if (count === 0) return [];
    if (severity === "unchecked") return [`${formatCount(count)} not checked`];
    return [`${formatCount(count)} ${severity}${count === 1 ? "" : "s"}`];
  });
  return counts.join(", ");
}

/** How many findings of one check and severity the output for people has. */
const mostShown = 20;

const styles: Readonly<Record<Severity, Style>> = { problem: "red", warning: "yellow", unchecked: "dim", ok: "green" };

/** Renders a diagnosis for people: the totals, the findings with their next steps, the worst first, and then one line for each check. Sentences wrap at `width`; commands stay on one line. */
export function renderDiagnosis({ checks, findings }: Diagnosis, paint: Paint, width?: number): string {
  const rows = checks.map(({ check, severity, summary }) => [check, severity, summary]);
  const groups = Map.groupBy(findings, ({ check, severity }) => `${severity} ${check}`);
  const blocks = [...groups.values()].flatMap((group) => {
    const rest = group.length - mostShown;
    const lines = group.slice(0, mostShown).flatMap((each) => block(each, paint, width));
    return rest > 0
      ? [...lines, "", `${formatCount(rest)} more findings of check ${group[0]?.check}. Show all with -o json.`]
      : lines;
  });
  const styleOf = (row: number, heading: string | undefined) => {
    const severity = heading === "RESULT" ? checks[row]?.severity : undefined;
    return severity && styles[severity];
  };
  const table = headedTable(["CHECK", "RESULT", "SUMMARY"], rows, paint, styleOf);
  return joined([`${summaryOf(findings, "No problems found")}.`, ...blocks, "", ...table]);
}

function block(
  { severity, check, where, what, fix }: Diagnosis["findings"][number],
  paint: Paint,
  width: number | undefined,
): readonly string[] {
  const head = severity === "unchecked" ? "NOT CHECKED" : severity.toUpperCase();
  const about = where === null ? check : describeRef(where);
  // A person copies the command, so it stays on one line.
  const next = fix === null ? [] : [`  → ${fix}`];
  return [
    "",
    `${paint(styles[severity], head)}  ${printable(about)}`,
    ...wrappedBehind("  ", printable(what), width),
    ...next.map(printable),
  ];
}
