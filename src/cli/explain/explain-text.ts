import { describeObject } from "../../domain/config/view-of-references.ts";
import { rolloutStrategies } from "../../domain/model/rollout-strategy.ts";
import { printable } from "../../lib/printable.ts";
import type { ExplainedReference } from "../cluster/explanation/explained-outcome.ts";
import type { Explanation } from "../cluster/explanation/explanation.ts";
import { byWave } from "../cluster/snapshot/leader-view.ts";
import { describePodCount } from "../cluster/states/assess-state.ts";
import { describeKubernetesReason, nextOfState, workloadStates } from "../cluster/states/state-rows.ts";
import { remaining, sentences } from "../output/sentences.ts";
import { joined, type Paint, paintOf, tableLines, wrappedBehind } from "../output/table.ts";

interface ExplanationForm {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Default: no colors. */
  readonly paint?: Paint;
  /** The columns at which sentences are wrapped. Default: not at all. */
  readonly width?: number | undefined;
}

/**
 * Returns an explanation for a person: the state and the next step first, then everything that the decision depends on. A pod
 * spec may contain any characters; control characters are escaped. Tables and commands to copy are not wrapped.
 */
export function renderExplanation(
  explanation: Explanation,
  { now, paint = paintOf(false), width }: ExplanationForm,
): string {
  const { workload, state, optIn, missing, unread, warnings, notes } = explanation;
  const { kind, namespace, name } = workload;
  const wrap = (head: string, text: string, indent: number) => wrappedBehind(head, printable(text), width, indent);
  const list = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [title, ...texts.flatMap((text) => wrap("  ", text, 4))];
  const [first = [], ...rows] = summary(explanation, now).map(([label, text]) =>
    wrap(label.padEnd(labelWidth), text, labelWidth),
  );
  const blocks = [
    [paint("bold", printable(`${kind} ${namespace}/${name}`))],
    [
      ...first.map((text) => paint(workloadStates[state].style, text)),
      ...rows.flat(),
      ...(optIn === "out" ? ["To opt in".padEnd(labelWidth) + printable(optInCommand(explanation))] : []),
    ],
    list(
      "Missing:",
      missing.map((each) => `${describeObject(each, namespace)}${each.key === undefined ? "" : `, key "${each.key}"`}`),
    ),
    list(
      "Not readable:",
      unread.map(({ error, ...object }) => `${describeObject(object, namespace)}: ${error}`),
    ),
    list(
      "Warnings:",
      warnings.map(({ message }) => message),
    ),
    list("Notes:", notes),
    referenceLines(explanation).map(printable),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map(joined)
    .join("\n");
}

type Row = readonly [label: string, text: string];

/** Returns the rows about the workload; a row without a text is left out. */
function summary(explanation: Explanation, now: number): readonly Row[] {
  const { state, because, reason, hold, currentHash, kubernetes, judgedAt, policy } = explanation;
  const verdict = judgedAt === null ? "" : `, ${byWave(judgedAt, now)}`;
  const rows: readonly Row[] = [
    ["State", `${because === null || state === "due" ? state : `${state} (${because})`}${verdict}`],
    ["Now", headline(explanation)],
    [hold === null ? "Why" : "Due", sentences(reason)],
    ["Until", hold?.until ? `in ${remaining(hold.until, now)} (${hold.until})` : ""],
    ["Batch", batchText(explanation)],
    ["Pods", podsText(explanation)],
    ["Pinned", pinnedText(explanation)],
    ["Kubernetes", kubernetes === null ? "" : describeKubernetesReason(kubernetes)],
    ["Next step", nextStep(explanation)],
    ["Recorded", recordedText(explanation)],
    ["Current", currentHash ?? whyNoHash(explanation)],
    ...policy.map(
      ({ name, value, by }, index): Row => [
        index === 0 ? "Policy" : "",
        `${name}: ${shortened(value)} (${policySources[by]})`,
      ],
    ),
  ];
  return rows.filter(([, text]) => text !== "");
}

const labelWidth = 13;

/** Returns the hash of what the Pods read, and where it is recorded if that is not the pod template. */
function recordedText({ recordedHash, recordedUnder, recordedConfig }: Explanation): string {
  const inTemplate = recordedHash === null ? "no hash" : `${recordedHash}${keySuffix(recordedUnder)}`;
  return recordedConfig === null
    ? inTemplate
    : `${recordedConfig} in annotation recorded-config. The pod template has ${inTemplate}.`;
}

const policySources = { workload: "workload annotation", namespace: "Namespace annotation", flag: "flag of Wave" };

/** Shortens a long list of excluded objects. JSON has the whole value. */
function shortened(value: string): string {
  return value.length <= 80 ? value : `${value.slice(0, 79)}…`;
}

/** Returns the place in the batches of the change; "" if the change concerns no other workload. */
function batchText({ batch, workload: { namespace } }: Explanation): string {
  if (batch === null || batch.workloads < 2) return "";
  const { object, number, of, complete, workloads } = batch;
  const place = number === null ? "" : `${number} of ${of} that are left`;
  return sentences(
    place,
    `${complete} of ${workloads} workloads are complete for ${describeObject(object, namespace)}`,
  );
}

function podsText({ pods, because, message, rolledBack }: Explanation): string {
  if (pods === null) return because === "pods" ? (message ?? "") : "";
  if (rolledBack.length > 0) return `${pods.current} of ${pods.total} run with the configuration of the pod template.`;
  return sentences(describePodCount(pods));
}

/** Returns how many Pods read pinned copies, and why others do not; "" if the pod template has no pins. */
function pinnedText({ pinning }: Explanation): string {
  if (pinning === null) return "";
  const { pinned, partlyPinned, unpinned, why } = pinning;
  const total = pinned + partlyPinned + unpinned;
  if (total === 0) return "There are no Pods. New Pods read pinned copies.";
  return sentences(`${pinned} of ${total} ${total === 1 ? "Pod reads" : "Pods read"} pinned copies`, ...why);
}

/** Returns the next step of the state; "" if it only repeats another row or this command. */
function nextStep({ state, optIn }: Explanation): string {
  const isShownElsewhere = state === "held" || state === "unknown" || (state === "ignored" && optIn === "out");
  return isShownElsewhere ? "" : nextOfState(state, optIn);
}

/** Returns the key of a hash in parentheses; "" for a hash without a key, which is the usual case. */
function keySuffix(form: Explanation["recordedUnder"]): string {
  return form === null || form === "no key" ? "" : ` (${form})`;
}

function whyNoHash({ outcome }: Explanation): string {
  if (outcome === "waiting") return "no hash while something is missing";
  return outcome === "ignore" || outcome === "cleanUp" ? "not computed" : "unknown";
}

function optInCommand({ workload: { kind, namespace, name } }: Explanation): string {
  return `kubectl -n ${namespace} annotate ${kind.toLowerCase()}/${name} wave.pusher.com/update-on-config-change=true --overwrite`;
}

/** Returns one line about what Wave does with a workload now. */
function headline(explanation: Explanation): string {
  const { outcome, schedulingHold, hold, strategy, keptPods } = explanation;
  const { texts, podsCarryHash } = rolloutStrategies[strategy];
  switch (outcome) {
    case "ignore":
      return "Wave ignores this workload.";
    case "current":
      return currentHeadline(explanation);
    case "firstHash":
      return schedulingHold === "closed"
        ? "Wave records the first hash and schedules the pending Pods."
        : `Wave records the first hash. ${(podsCarryHash ? keptPods : null) ?? texts.firstHash}`;
    case "recorded":
      return "Wave records the current configuration without a restart.";
    case "roll":
      return keptPods === null
        ? `Wave rolls this workload. ${texts.rollout}`
        : `Wave updates the hash, but no Pod is replaced yet. ${keptPods}`;
    case "waiting":
      return schedulingHold === "closed"
        ? "Waiting. New Pods stay pending until nothing is missing."
        : "Waiting. Running Pods are not changed.";
    case "overLimit":
      return "Over a limit. Wave does not roll this workload; running Pods are not changed.";
    case "held":
      return sentences(hold?.message ?? "Held");
    case "cleanUp":
      return cleanUpTexts[schedulingHold];
    case "unknown":
      return "Unknown. Something that the decision depends on could not be read.";
  }
}

/** What Wave removes without a rollout: a scheduling hold, what is left of one, or the pause of another controller. */
const cleanUpTexts: Readonly<Record<Explanation["schedulingHold"], string>> = {
  closed: "Wave schedules the pending Pods again, without a rollout.",
  left: "Wave removes the annotation of a scheduling hold, without a rollout.",
  open: "Wave resumes the Deployment, which another controller left paused.",
};

/** Returns the headline of a workload with a current hash. Its rollout may still be in progress or have failed. */
function currentHeadline({ state, message }: Explanation): string {
  switch (state) {
    case "current":
      return "Nothing to do. The workload is up to date.";
    case "unproven":
      return message ?? "";
    case "rolledBack":
      return "Nothing to do. A change was rolled back, and new Pods read the earlier content.";
    case "rolling":
      return sentences("Rollout in progress", message ?? "");
    case "failed":
      return sentences("Rollout failed", message ?? "", "The hash is current");
    case "stuck":
      return sentences("Rollout stuck", message ?? "", "The hash is current");
    case "behind":
      return sentences("The hash is current, but Kubernetes keeps old Pods", message ?? "");
    default:
      return sentences("The hash is current", message ?? "");
  }
}

/** The number of keys in one cell of the table. JSON has all keys. */
const shownKeys = 4;

/** Returns the references of a workload as a table, or why there is no table. The lines are not wrapped. */
function referenceLines({ workload, outcome, references, limitExceeded }: Explanation): readonly string[] {
  if (limitExceeded !== null && outcome === "overLimit") return ["References are not listed: too many."];
  if (limitExceeded !== null) return [sentences("References are not listed: too many", limitExceeded)];
  return references.length === 0 ? ["References: no ConfigMap or Secret."] : table(references, workload.namespace);
}

function table(references: readonly ExplainedReference[], namespace: string): readonly string[] {
  // The column is only needed if annotations of other controllers lead to an object.
  const hasOthers = references.some(({ trackedBy }) => trackedBy.some(({ compatibility }) => compatibility !== "wave"));
  const rows = references.map((reference) => [
    `${reference.kind} ${reference.namespace === namespace ? "" : `${reference.namespace}/`}${reference.name}`,
    stateOf(reference),
    keysOf(reference),
    reference.reads,
    reference.optional ? "optional" : "required",
    ...(hasOthers ? [sourcesOf(reference)] : []),
    reference.path,
  ]);
  return tableLines(
    [["OBJECT", "STATE", "KEYS", "READ AS", "NEEDED", ...(hasOthers ? ["TRACKED BY"] : []), "FIELD"], ...rows],
    2,
  );
}

function sourcesOf({ trackedBy }: ExplainedReference): string {
  return trackedBy.map(({ compatibility, by }) => `${compatibility} (${by})`).join(", ") || "-";
}

function stateOf({ state, absentKeys }: ExplainedReference): string {
  return absentKeys.length === 0 ? state : `lacks ${keyList(absentKeys)}`;
}

function keysOf({ keys, reads }: ExplainedReference): string {
  if (keys === "all") return "all";
  return reads === "existence" && keys.length === 0 ? "-" : keyList(keys);
}

/** Returns the first keys of a list, and how many are left. */
export function keyList(keys: readonly string[]): string {
  const rest = keys.length - shownKeys;
  return rest > 0 ? `${keys.slice(0, shownKeys).join(",")} +${rest}` : keys.join(",");
}
