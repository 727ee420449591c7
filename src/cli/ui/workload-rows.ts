import { type WorkloadName, workloadKey } from "../../domain/model/workload-shape.ts";
import { type HoldCommand, holdRows } from "../../domain/pacing/holds.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { type ConfigName, configKey } from "../../domain/references/references.ts";
import { waveArguments } from "../../domain/syntax/names.ts";
import {
  type ExplainedPods,
  type Explanation,
  explainPods,
  type PodContent,
} from "../cluster/explanation/explanation.ts";
import { heldChangeLines } from "../cluster/explanation/workload-notes.ts";
import { editedAt } from "../cluster/read/configs.ts";
import type { RunningPod } from "../cluster/read/pods.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { withKubernetesReason, workloadStates } from "../cluster/states/state-rows.ts";
import { sentences } from "../output/sentences.ts";
import type { Id, PodSquare, WorkloadRow } from "./model.ts";

/** A workload with its explanation. */
export interface ExplainedWorkload extends ExplainedPods {
  readonly id: Id;
  /** By `workloadKey`. */
  readonly key: string;
  readonly snapshot: WorkloadSnapshot;
  /** Its Pods, those that are being deleted included; empty if they could not be read. */
  readonly pods: readonly RunningPod[];
}

/** The cluster of a row. */
export interface RowContext {
  readonly cluster: Id;
  /** The flags with which a command reaches the cluster, with a space before; "" if the default does. */
  readonly contextFlag: string;
}

/** Explains a workload for its row. */
export function explainRow(snapshot: WorkloadSnapshot, cluster: Id): ExplainedWorkload {
  const { pods } = snapshot;
  const { workload } = snapshot.found;
  return {
    ...explainPods(snapshot),
    id: workloadId(cluster, workload),
    key: workloadKey(workload),
    snapshot,
    pods: pods.state === "read" ? [...pods.of(workload), ...pods.terminating(workload)] : [],
  };
}

/** Maximum number of Pods of a row. */
const maxPods = 60;

/** Returns the row of a workload. */
export function workloadRow(explained: ExplainedWorkload, context: RowContext): WorkloadRow {
  const { explanation, snapshot, id } = explained;
  const { workload, state, because, message, reason, kubernetes, since, hold, pods, currentHash, heldChange } =
    explanation;
  const { namespace, kind, name } = workload;
  return {
    id,
    cluster: context.cluster,
    ...{ namespace, kind, name, state, because },
    needsPerson: needsPerson(explanation),
    message: sentences(
      withKubernetesReason(message ?? reason, kubernetes),
      ...heldChangeLines(heldChange),
      explanation.judgedAt === null ? "" : `By Wave, as of ${explanation.judgedAt}`,
    ),
    since: since === null ? null : Date.parse(since),
    until: hold?.until ? Date.parse(hold.until) : null,
    command: commandFor(explained, context),
    hash: currentHash,
    pods: pods && { total: pods.total, ready: pods.ready, current: pods.current },
    podList: sortedPods(explained)
      .slice(0, maxPods)
      .map((pod) => podSquare(explained, pod)),
    reads: [...new Set(snapshot.found.workload.references.map((each) => objectName(each, namespace)))],
  };
}

/** Reports whether a state lasts until a person acts. */
function needsPerson({ state, hold }: Pick<Explanation, "state" | "hold">): boolean {
  if (state !== "held") return workloadStates[state].style === "red" || state === "unproven" || state === "stuck";
  const row = hold === null ? undefined : holdRows[hold.reason];
  return row !== undefined && !row.isShort && !row.isSkipped;
}

/** Returns an object or a workload for the page: `configmap/page`, with its namespace if that is another one. */
export function objectName({ kind, namespace, name }: WorkloadName, own: string): string {
  return `${kind.toLowerCase()}/${namespace === own ? "" : `${namespace}/`}${name}`;
}

/** Returns the Pods of a workload, the oldest first. */
export function sortedPods({ pods }: ExplainedWorkload): readonly RunningPod[] {
  return pods.toSorted(({ observed: a }, { observed: b }) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
}

const contents: Readonly<Record<PodContent, PodSquare["content"]>> = {
  current: "new",
  old: "old",
  mixed: "unknown",
  unknown: "unknown",
};

/** Returns a Pod as a square. */
export function podSquare({ contentOf, explanation }: ExplainedWorkload, pod: RunningPod): PodSquare {
  return {
    name: pod.observed.name,
    content: contents[contentOf(pod)],
    phase: phaseOf(pod, explanation.state === "rolling"),
  };
}

function phaseOf({ observed }: RunningPod, isRolling: boolean): PodSquare["phase"] {
  const { ending, ready, notReadyReason, restarts, start } = observed;
  if (ending) return "terminating";
  if (ready) return "ready";
  if (start.state === "stuck") return "notReady";
  if (restarts.count > 0 || (notReadyReason !== undefined && !startingReasons.has(notReadyReason))) return "failed";
  return isRolling ? "starting" : "notReady";
}

/** Reasons of Pods that have not failed. */
const startingReasons = new Set(["ContainerCreating", "PodInitializing", "Unschedulable", "SchedulingGated"]);

/**
 * Returns the command that a person may run next; null if the workload needs nobody. A person copies the command into a shell, so it is made
 * of names that the API server has checked, and never taken from a message, which may contain the text of anyone.
 */
function commandFor(explained: ExplainedWorkload, { contextFlag }: RowContext): string | null {
  const { state, hold } = explained.explanation;
  switch (state) {
    case "current":
    case "rolling":
    case "due":
    case "ignored":
      return null;
    case "held": {
      const command = hold === null ? "explain" : holdRows[hold.reason].command;
      return command === undefined ? null : `wave ${holdCommands[command](explained)}${contextFlag}`;
    }
    case "unproven":
      return `wave ${roll(explained)}${contextFlag}`;
    default:
      return `wave ${explain(explained)}${contextFlag}`;
  }
}

type CommandOf = (explained: ExplainedWorkload) => string;

const explain: CommandOf = ({ explanation }) => `explain ${waveArguments(explanation.workload)}`;

const roll: CommandOf = ({ explanation }) => `roll ${waveArguments(explanation.workload)}`;

/** The commands for holds, without `wave`. */
const holdCommands: Readonly<Record<HoldCommand, CommandOf>> = {
  approve: ({ explanation }) => `approve ${waveArguments(explanation.workload)}`,
  explain,
  release: (explained) =>
    `release ${personalHolds(explained)[0]?.target ?? waveArguments(explained.explanation.workload)}`,
  "release --cluster": () => "release --cluster",
  resume: ({ explanation: { workload, hold } }) =>
    `resume ${waveArguments(hold?.object?.namespace === workload.namespace ? hold.object : workload)}`,
  roll,
};

/** A hold by a person. */
interface PersonalHold {
  /** What is held: `KIND/NAME`. */
  readonly about: string;
  /** The same as arguments of a command. */
  readonly target: string;
  /** What the person wrote about the hold; undefined or "" if nothing. */
  readonly text: string | undefined;
  /** Whether it holds only the changes of one object. */
  readonly ofObject: boolean;
}

/** Returns what people hold so that a workload does not roll: the workload or its Namespace, then objects that it reads. */
export function personalHolds({ snapshot: { found, read, policy } }: ExplainedWorkload): readonly PersonalHold[] {
  const { workload } = found;
  const { namespace } = workload;
  const { hold, holdReason } = rulesFor(workload, policy);
  const byNamespace = { about: `namespace/${namespace}`, target: `namespace/${namespace}` };
  const byWorkload = { about: objectName(workload, namespace), target: waveArguments(workload) };
  const text = holdReason.by === hold.by ? holdReason.value : undefined;
  const own = { ...(hold.by === "namespace" ? byNamespace : byWorkload), text, ofObject: false };
  const objects = workload.references.flatMap((object) => {
    const config = read.get(configKey(object));
    if (config?.state !== "present" || config.config.directive !== "hold") return [];
    const about = objectName(object, namespace);
    return [{ about, target: waveArguments(object), text: config.config.holdReason, ofObject: true }];
  });
  return hold.value ? [own, ...objects] : objects;
}

/** Returns the objects that a workload reads and that were edited since Wave last wrote its hash, each once. */
export function changedObjects({ snapshot: { found, read } }: ExplainedWorkload): readonly ConfigName[] {
  const { references, hashWrittenAt } = found.workload;
  const objects = new Map(references.map((each) => [configKey(each), each]));
  return [...objects].flatMap(([key, object]) => ((editedAt(read.get(key)) ?? 0) >= hashWrittenAt ? [object] : []));
}

/** Returns the ID of the rows of a context. A name of a context may contain any characters. */
export function clusterId(context: string): Id {
  return encodeURIComponent(context);
}

/** Returns the ID of a workload: `CLUSTER/NAMESPACE/KIND/NAME`. */
export function workloadId(cluster: Id, { kind, namespace, name }: WorkloadName): Id {
  return [cluster, namespace, kind.toLowerCase(), name].join("/");
}

/** Reports whether a row is of a cluster, or of one of some namespaces in it. */
export function isRowIn(id: Id, cluster: Id, namespaces: ReadonlySet<string> | "all"): boolean {
  const [own, namespace = ""] = id.split("/", 2);
  return own === cluster && (namespaces === "all" || namespaces.has(namespace));
}
