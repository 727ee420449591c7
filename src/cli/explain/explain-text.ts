import { describeObject } from "../../domain/config/messages.ts";
import type { Explanation } from "../cluster/explanation.ts";
import { inWords } from "../cluster/kubernetes-reason.ts";
import { stateStyles } from "../cluster/state-style.ts";
import { podsInWords } from "../cluster/workload-state.ts";
import { type Paint, paintOf, type Style } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import { wrappedBehind } from "../output/wrap.ts";
import { referenceLines } from "./reference-lines.ts";

/**
 * An explanation for a person: what Wave does and why, then what that hangs on. Lines that no terminal takes for
 * commands: a pod spec may name an object by any characters. Sentences are in lines of at most `width` columns; tables, and what is
 * copied, stay whole.
 */
export function renderExplanation(explanation: Explanation, paint: Paint = paintOf(false), width?: number): string {
  const { workload, state, missing, unread, warnings, notes } = explanation;
  const { kind, namespace, name } = workload;
  const blocks = [
    [line("", `${kind} ${namespace}/${name}`)],
    summary(explanation),
    referenceLines(explanation).map((text) => line("", text)),
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
    .map((lines, index) =>
      lines
        .flatMap((each, at) => laid(each, width).map((text) => `${paint(styleOf(index, at, state), text)}\n`))
        .join(""),
    )
    .join("\n");
}

/** A line as long as it is: `text` may be broken where `indent` says from which column it goes on. */
interface Line {
  readonly head: string;
  readonly text: string;
  readonly indent: number | undefined;
}

function line(head: string, text: string, indent?: number): Line {
  return { head, text, indent };
}

function laid({ head, text, indent }: Line, width: number | undefined): readonly string[] {
  return wrappedBehind(head, printable(text), indent === undefined ? undefined : width, indent);
}

/** The workload's name, and the line below it that says what Wave does now. */
function styleOf(block: number, line: number, state: Explanation["state"]): Style | undefined {
  if (line > 0 || block > 1) return undefined;
  return block === 0 ? "bold" : stateStyles[state];
}

function summary(explanation: Explanation): readonly Line[] {
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
  const copied: [string, string][] = optIn === "out" ? [["To opt in", optInCommand(explanation)]] : [];
  if (outcome === "roll" || outcome === "firstHash" || outcome === "recorded")
    rows.push(["If it stays", "Wave does not run or may not write it: see its log and the Events of this workload"]);
  return [
    ...rows.map(([label, text]) => line(label.padEnd(labelWidth), text, labelWidth)),
    ...copied.map(([label, text]) => line(label.padEnd(labelWidth), text)),
  ];
}

const labelWidth = 13;

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

function headline({ outcome, schedulingHold, state, message, hold, due, rolledBy }: Explanation): string {
  switch (outcome) {
    case "ignore":
      return "Wave leaves it alone";
    case "current":
      return unchangedHeadline(state, message);
    case "firstHash":
      return schedulingHold === "closed"
        ? "Wave records the hash of its configuration and lets its Pods be scheduled"
        : `Wave records the hash of its configuration, ${rolledByWords[rolledBy].first}`;
    case "recorded":
      return "Wave takes its Pods to see the current configuration, and replaces none";
    case "roll":
      return `Wave rolls it out: ${rolledByWords[rolledBy].roll}`;
    case "waiting":
      return schedulingHold === "closed"
        ? "Wave waits: its new Pods stay pending until nothing is missing"
        : "Wave waits: it keeps the Pods that it has until nothing is missing";
    case "overLimit":
      return "Wave leaves it alone: it is too large, and keeps what it has";
    case "held":
      return `Wave holds back ${due === "firstHash" ? "its first hash" : "its rollout"}: ${hold?.reason}`;
    case "cleanUp":
      return "Wave lets its Pods be scheduled again, and rolls out nothing";
    case "unknown":
      return "cannot be told: it hangs on what could not be read";
  }
}

/** What a roll does, and what the first hash. */
const rolledByWords: Readonly<Record<Explanation["rolledBy"], { readonly roll: string; readonly first: string }>> = {
  template: { roll: "its Pods are replaced", first: "which replaces its Pods once" },
  templateSource: { roll: "its Pods are replaced, by the pod template that it borrows", first: "and replaces no Pod" },
  restart: { roll: "its Pods are restarted", first: "and restarts no Pod" },
  run: { roll: "it is run once, beside its schedule", first: "and runs nothing" },
  replacement: { roll: "it is made again, with the same name", first: "and makes nothing" },
};

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

function block(title: string, texts: readonly string[]): readonly Line[] {
  return texts.length === 0 ? [] : [line("", title), ...texts.map((text) => line("  ", text, 4))];
}
