import { describeObject } from "../../rollout/messages.ts";
import { inWords } from "../cluster/kubernetes-reason.ts";
import { podsInWords } from "../cluster/workload-state.ts";
import { type Paint, paintOf, type Style } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import { stateStyles } from "../output/state-style.ts";
import { tableLines } from "../output/table.ts";
import type { ExplainedReference } from "./explained-reference.ts";
import type { Explanation } from "./explanation.ts";

/** How many keys a cell of the table names; JSON has all. */
const shownKeys = 4;

/**
 * An explanation for a person: what Wave does and why, then what that hangs on. Lines that no terminal takes for
 * commands: a pod spec may name an object by any characters.
 */
export function renderExplanation(explanation: Explanation, paint: Paint = paintOf(false)): string {
  const { workload, state, missing, unread, warnings, notes } = explanation;
  const { kind, namespace, name } = workload;
  const blocks = [
    [`${kind} ${namespace}/${name}`],
    summary(explanation),
    listedReferences(explanation),
    block(
      "Missing",
      missing.map((each) => `${describeObject(each, namespace)}${each.key === undefined ? "" : `, key "${each.key}"`}`),
    ),
    block(
      "Not read",
      unread.map(({ error, ...object }) => `${describeObject(object, namespace)}: ${error}`),
    ),
    block(
      "Warnings",
      warnings.map(({ message }) => message),
    ),
    block("Note", notes),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines, index) => lines.map((line, at) => `${paint(styleOf(index, at, state), printable(line))}\n`).join(""))
    .join("\n");
}

/** The workload's name, and the line below it that says what Wave does now. */
function styleOf(block: number, line: number, state: Explanation["state"]): Style | undefined {
  if (line > 0 || block > 1) return undefined;
  return block === 0 ? "bold" : stateStyles[state];
}

function listedReferences({ workload, outcome, references, tooLarge }: Explanation): readonly string[] {
  if (tooLarge !== null && outcome === "overBudget") return ["It is too large to be listed."];
  if (tooLarge !== null) return [`It is too large to be listed: ${tooLarge}.`];
  return references.length === 0 ? ["It refers to no ConfigMap or Secret."] : table(references, workload.namespace);
}

function summary(explanation: Explanation): readonly string[] {
  const { outcome, reason, hold, recordedHash, recordedUnder, currentHash, optIn, kubernetes } = explanation;
  const rows: [string, string][] = [
    ["Now", headline(explanation)],
    ["Why", reason],
    ...(hold === null ? [] : [["Held", hold.message] as [string, string]]),
    ...(hold === null || hold.until === null ? [] : [["Until", hold.until] as [string, string]]),
    ...podsRow(explanation),
    ...(kubernetes === null ? [] : [["Kubernetes", inWords(kubernetes)] as [string, string]]),
    ["Recorded", recordedHash === null ? "no hash" : `${recordedHash}${under(recordedUnder)}`],
    ["Current", currentHash ?? whyNoHash(explanation)],
  ];
  for (const [index, { name, value, by }] of explanation.policy.entries())
    rows.push([index === 0 ? "Policy" : "", `${name}: ${shortened(value)} (${policySources[by]})`]);
  if (optIn === "out") rows.push(["To opt in", optInCommand(explanation)]);
  if (outcome === "roll" || outcome === "baseline" || outcome === "adopt")
    rows.push(["If it stays", "Wave does not run or may not write it: see its log and the Events of this workload"]);
  return rows.map(([label, text]) => label.padEnd(13) + text);
}

const policySources = { workload: "its own", namespace: "of its Namespace", flag: "of Wave's flags" };

/** A list of excluded objects may fill a page; JSON has it all. */
function shortened(value: string): string {
  return value.length <= 80 ? value : `${value.slice(0, 79)}…`;
}

/** What became of Pods, where that is known or would be if they could be read. */
function podsRow({ pods, because, message }: Explanation): readonly [string, string][] {
  if (pods !== null) return [["Pods", podsInWords(pods)]];
  return because === "pods" && message !== null ? [["Pods", message]] : [];
}

function headline({ outcome, gate, state, message, hold, due }: Explanation): string {
  switch (outcome) {
    case "ignore":
      return "Wave leaves it alone";
    case "unchanged":
      return unchangedHeadline(state, message);
    case "baseline":
      return gate === "closed"
        ? "Wave records the hash of its configuration and lets its Pods be scheduled"
        : "Wave records the hash of its configuration, which replaces its Pods once";
    case "adopt":
      return "Wave takes its Pods to see the current configuration, and replaces none";
    case "roll":
      return "Wave rolls it out: its Pods are replaced";
    case "waiting":
      return gate === "closed"
        ? "Wave waits: its new Pods stay pending until nothing is missing"
        : "Wave waits: it keeps the Pods that it has until nothing is missing";
    case "overBudget":
      return "Wave leaves it alone: it is too large, and keeps what it has";
    case "held":
      return `Wave holds back ${due === "baseline" ? "its first hash" : "its rollout"}: ${hold?.reason}`;
    case "cleanUp":
      return "Wave lets its Pods be scheduled again, and rolls out nothing";
    case "unknown":
      return "cannot be told: it hangs on what could not be read";
  }
}

/** What became of what Wave wrote: it is never up to date while a Pod is not. */
function unchangedHeadline(state: Explanation["state"], message: string | null): string {
  switch (state) {
    case "current":
      return "Wave does nothing: it is up to date";
    case "rolling":
      return `Wave has done its part: ${message}`;
    case "failed":
      return `Wave has done its part, and Kubernetes fails: ${message}`;
    case "behind":
      return `Wave has done its part, and Kubernetes has not: ${message}`;
    default:
      return `Wave does nothing: its hash is up to date; ${message}`;
  }
}

/** A hash without key is the usual case, and needs no words. */
function under(form: Explanation["recordedUnder"]): string {
  return form === null || form === "no key" ? "" : ` (${form})`;
}

function whyNoHash({ outcome }: Explanation): string {
  if (outcome === "waiting") return "none while something is missing";
  return outcome === "ignore" || outcome === "cleanUp" ? "not looked at" : "unknown";
}

function optInCommand({ workload: { kind, namespace, name } }: Explanation): string {
  return `kubectl -n ${namespace} annotate ${kind.toLowerCase()}/${name} wave.pusher.com/update-on-config-change=true --overwrite`;
}

function table(references: readonly ExplainedReference[], namespace: string): readonly string[] {
  // Where nobody else is understood it is Wave's, and needs no words.
  const others = references.some(({ askedBy }) => askedBy.some(({ dialect }) => dialect !== "wave"));
  const rows = references.map((reference) => [
    `${reference.kind} ${reference.namespace === namespace ? "" : `${reference.namespace}/`}${reference.name}`,
    stateOf(reference),
    keysOf(reference),
    reference.reads === "existence" ? "-" : reference.reads,
    reference.optional ? "optional" : "required",
    ...(others ? [askersIn(reference)] : []),
    reference.path,
  ]);
  return tableLines(
    [["READS", "STATE", "KEYS", "AS", "NEEDED", ...(others ? ["ASKED BY"] : []), "THROUGH"], ...rows],
    2,
  );
}

function askersIn({ askedBy }: ExplainedReference): string {
  return askedBy.map(({ dialect, by }) => `${dialect} (${by})`).join(", ") || "-";
}

function stateOf({ state, absentKeys }: ExplainedReference): string {
  return absentKeys.length === 0 ? state : `lacks ${listed(absentKeys)}`;
}

function keysOf({ keys, reads }: ExplainedReference): string {
  if (keys === "all") return "all";
  return reads === "existence" && keys.length === 0 ? "(the object)" : listed(keys);
}

function listed(keys: readonly string[]): string {
  const rest = keys.length - shownKeys;
  return rest > 0 ? `${keys.slice(0, shownKeys).join(",")} +${rest}` : keys.join(",");
}

function block(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}
