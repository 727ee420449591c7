import { counted, enumerated, quoted } from "../../domain/syntax/wording.ts";
import type { Paint, Style } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import { type PaintCell, tableLines } from "../output/table.ts";
import { wrappedBehind } from "../output/wrap.ts";
import type { CheckName } from "./checks.ts";
import { type CheckResult, type Finding, describeRef, type Severity, severities } from "./finding.ts";

/** What `wave doctor -o json` prints; docs/commands.md promises its fields. */
export interface Diagnosis {
  readonly version: 1;
  readonly checks: readonly { readonly check: CheckName; readonly severity: Severity; readonly summary: string }[];
  readonly findings: readonly (Finding & { readonly check: CheckName })[];
}

/** All that was found, the worst first. */
export function diagnosisOf(examined: readonly (readonly [CheckName, CheckResult])[]): Diagnosis {
  const findings = examined.flatMap(([check, { found }]) => found.map((each) => ({ check, ...each })));
  return {
    version: 1,
    checks: examined.map(([check, { found, fine }]) => ({
      check,
      severity: worstOf(found),
      summary: summaryOf(found, fine),
    })),
    findings: findings.toSorted((a, b) => rank(a.severity) - rank(b.severity)),
  };
}

/** How many permissions a line names. */
const mostNeeds = 12;

/** What could not be looked at, in one line, with the permissions that it takes; undefined where all was. */
export function uncheckedIn({ findings }: Diagnosis): string | undefined {
  const left = findings.filter(({ severity }) => severity === "unchecked");
  if (left.length === 0) return undefined;
  const checks = [...new Set(left.map(({ check }) => check))];
  const needs = [...new Set(left.flatMap((each) => each.needs))];
  const what = `${enumerated(checks, checks.length, String)} could not be checked in full`;
  return needs.length === 0 ? what : `${what}: that takes ${enumerated(needs, mostNeeds, quoted)}`;
}

const ranks = Object.keys(severities) as readonly Severity[];
const rank = (severity: Severity) => ranks.indexOf(severity);

function worstOf(found: readonly Finding[]): Severity {
  return ranks.find((severity) => found.some((each) => each.severity === severity)) ?? "ok";
}

function summaryOf(found: readonly Finding[], fine: string): string {
  if (found.length === 0) return fine;
  const said = ranks.flatMap((severity) => {
    const count = found.filter((each) => each.severity === severity).length;
    if (count === 0) return [];
    if (severity === "unchecked") return [`${counted(count)} not checked`];
    return [`${counted(count)} ${severity}${count === 1 ? "" : "s"}`];
  });
  return said.join(", ");
}

/** How many findings of one check and severity a person is shown. */
const shown = 20;

const styles: Readonly<Record<Severity, Style>> = { problem: "red", warning: "yellow", unchecked: "dim", ok: "green" };

/** For a person: a line for each check, then what was found, each with what to do, in lines of at most so many columns. */
export function renderDiagnosis({ checks, findings }: Diagnosis, paint: Paint, width?: number): string {
  const heading = ["CHECK", "RESULT", "SUMMARY"];
  const rows = checks.map(({ check, severity, summary }) => [check, severity, summary]);
  const groups = Map.groupBy(findings, ({ check, severity }) => `${severity} ${check}`);
  const blocks = [...groups.values()].flatMap((group) => {
    const rest = group.length - shown;
    const lines = group.slice(0, shown).flatMap((each) => block(each, paint, width));
    return rest > 0 ? [...lines, "", `${counted(rest)} more of ${group[0]?.check}: -o json has all.`] : lines;
  });
  const painted: PaintCell = (text, row, column) => {
    if (row === 0) return paint("bold", text);
    const severity = column === 1 ? checks[row - 1]?.severity : undefined;
    return severity === undefined ? text : paint(styles[severity], text);
  };
  return [...tableLines([heading, ...rows], 3, painted), ...blocks].map((line) => `${line}\n`).join("");
}

function block(
  { severity, check, where, what, fix }: Diagnosis["findings"][number],
  paint: Paint,
  width: number | undefined,
): readonly string[] {
  const head = severity === "unchecked" ? "NOT CHECKED" : severity.toUpperCase();
  const about = where === null ? check : describeRef(where);
  // A command is copied: it stays on one line, however long it is.
  const todo = fix === null ? [] : [`  → ${fix}`];
  return [
    "",
    `${paint(styles[severity], head)}  ${printable(about)}`,
    ...wrappedBehind("  ", printable(what), width),
    ...todo.map(printable),
  ];
}
