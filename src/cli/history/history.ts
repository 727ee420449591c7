// `wave history KIND/NAME`. This folder compares and renders revisions; src/cli/cluster/timeline reads them.
import { podSelector } from "../../domain/pods/pod-owner.ts";
import type { StoredName } from "../../domain/references/references.ts";
import { formatDuration } from "../../domain/syntax/time.ts";
import { readManyConfigs } from "../cluster/read/configs.ts";
import { readPods } from "../cluster/read/pods.ts";
import { tryRead } from "../cluster/requests.ts";
import { type KnownPolicy, readRunningPolicy } from "../cluster/running-wave/known-policy.ts";
import { isUnread } from "../cluster/snapshot/live-plan.ts";
import { readWorkloadRevisions } from "../cluster/timeline/revisions.ts";
import { readWaveEvents } from "../cluster/timeline/wave-events.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import { appendCluster, exitCodeFor, exitCodes, warningLine } from "../command/command.ts";
import { parseWorkloadArgument, type WorkloadArgument, workloadArgumentKinds } from "../command/workload-argument.ts";
import { connectionFlags, namespaceFlag, outputFlag } from "../flags/connection-flags.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { age, type Style } from "../output/sentences.ts";
import { headedTable, isForProgram, joined, type Paint, paintFor, programText } from "../output/table.ts";
import {
  type ConfigMapChange,
  type HistoryEntry,
  type HistoryFacts,
  type RevisionRollout,
  type RevisionState,
  revisionStates,
  workloadHistory,
} from "./workload-history.ts";

const flags = {
  namespace: namespaceFlag,
  output: outputFlag(["table"], "table, json or yaml."),

  ...connectionFlags,
  ...inheritedFlags,
};

/** Lists the revisions of one workload with the keys that changed in each. Writes nothing to the cluster, and prints no value. */
export const historyCommand = clusterCommand({
  name: "history",
  flags,
  kinds: workloadArgumentKinds,
  help: {
    usage: "wave history KIND/NAME [flags]",
    description:
      "List the revisions of a workload: which keys changed, who edited them, and how many Pods run each revision. Never shows a value.",
    examples: [
      ["wave history deployment/web -n shop", "one Deployment"],
      ["wave history sts/db -n shop -o json", "a StatefulSet, as JSON"],
    ],
    usualFlags: ["namespace", "output"],
    details: [
      "A revision is a ReplicaSet or ControllerRevision that Kubernetes keeps, as many as revisionHistoryLimit allows. Its number is that of kubectl rollout history.",
      "CHANGES has the keys that changed. Wave records them with each rollout, as the annotation wave.pusher.com/cause. Pinned copies also show +key added and -key removed.",
      "EDITED BY is the field manager that wrote the content. If the same content of a pinned copy returned later, only the first and the last writer are known.",
      "RESULT comes from the status of the workload, or from Events, which Kubernetes keeps for an hour by default.",
    ],
    words: {
      heading: "States",
      meanings: Object.fromEntries(Object.entries(revisionStates).map(([state, means]) => [wordsOf(state), means])),
    },
    exits: {
      [exitCodes.done]: "The history is complete.",
      [exitCodes.no]: "The workload was not found.",
    },
  },
  read: (call) => {
    const { positionals, values, terminal } = call;
    const argument = parseWorkloadArgument(positionals);
    return async (cluster) => {
      const namespace = values.namespace ?? cluster.namespace;
      const { facts, gaps } = await readHistory(
        argument,
        namespace,
        cluster,
        await readRunningPolicy(cluster, call, namespace),
      );
      const entries = workloadHistory(facts);
      for (const line of gaps) terminal.writeError(warningLine(appendCluster(line, cluster)));
      if (isForProgram(values.output)) {
        const { kind, namespace, name } = facts.workload;
        const workload = { kind, namespace, name };
        terminal.write(await programText({ version: 1, workload, revisions: entries }, values.output));
      } else if (entries.length === 0) {
        terminal.writeError("No revisions found. Kubernetes has not created one yet.\n");
      } else {
        terminal.write(renderHistory(entries, Date.now(), paintFor(terminal)));
      }
      return exitCodeFor({ complete: gaps.length === 0 });
    };
  },
});

/** Returns a state as the table shows it: two words for "rollingOut". */
function wordsOf(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Reads what the history of a workload depends on. `gaps` are the failed reads. Throws what {@link readWorkloadRevisions} throws. */
export async function readHistory(
  argument: WorkloadArgument,
  namespace: string,
  cluster: Cluster,
  policy: KnownPolicy,
): Promise<{ readonly facts: HistoryFacts; readonly gaps: readonly string[] }> {
  const { client } = cluster;
  const { object, workload, revisions, gaps } = await readWorkloadRevisions(cluster, argument, namespace, policy);
  const scope = { namespace, labelSelector: podSelector(object.spec?.selector) };
  const pods = await readPods(client, scope, policy.kinds);
  const copiesAndSources = new Set(revisions.flatMap(({ pins = [] }) => [...pins].flat()));
  const objects = [...copiesAndSources].map((name): StoredName => ({ kind: "ConfigMap", namespace, name }));
  const read = await readManyConfigs(client, objects);
  const unreadCopy = read.values().find(isUnread);
  const found = await tryRead(`list events in ${namespace}`, () =>
    readWaveEvents(client, { namespace, uid: workload.uid }),
  );
  const events = "read" in found ? found.read : [];
  return {
    facts: { object, workload, flags: policy.pacing, now: Date.now(), revisions, read, pods, events },
    gaps: [
      ...gaps,
      ...("unread" in found ? [`Results are unknown: ${found.unread}.`] : []),
      ...(pods.state === "unread" ? [`Pods are unknown: ${pods.why}.`] : []),
      ...(unreadCopy === undefined ? [] : [`Changes are unknown: cannot read ConfigMaps: ${unreadCopy.error}.`]),
    ],
  };
}

const styles: Readonly<Record<RevisionState, Style>> = {
  current: "green",
  rollingOut: "cyan",
  failed: "red",
  rolledBack: "yellow",
  old: "dim",
};

/** What the last column of the table shows for a revision without a change of a ConfigMap. */
const causes: Readonly<Record<HistoryEntry["cause"], string>> = {
  first: "-",
  configMaps: "",
  template: "pod template",
  mixed: "Pods might have run an earlier configuration",
  other: "other configuration",
  unknown: "unknown",
};

/** How many keys a line names. */
const shownKeys = 3;

/** Returns a history as a table, one line for each changed ConfigMap. `now` is in milliseconds since the epoch. */
export function renderHistory(entries: readonly HistoryEntry[], now: number, paint: Paint): string {
  const heading = ["REVISION", "AGE", "HASH", "PODS", "STATE", "RESULT", "EDITED BY", "CHANGES"];
  const lines = entries.flatMap((entry) => rowsOf(entry, now).map((cells, index) => ({ cells, entry, index })));
  const rows = lines.map(({ cells }) => cells);
  const styleOf = (row: number, column: string | undefined) => {
    const { entry, index } = lines[row] ?? {};
    return entry !== undefined && index === 0 && column === "STATE" ? styles[entry.state] : undefined;
  };
  return joined(headedTable(heading, rows, paint, styleOf, 2));
}

function rowsOf(entry: HistoryEntry, now: number): readonly (readonly string[])[] {
  const { revision, createdAt, hash, state, rollout } = entry;
  const changes = changesOf(entry);
  const [first, ...others] = changes.length === 0 ? [["-", whyOf(entry)]] : changes;
  const head = [
    String(revision),
    createdAt === null ? "-" : age(now - Date.parse(createdAt)),
    hash === null ? "-" : hash.slice(hash.indexOf(":") + 1).slice(0, 8),
    podsCell(entry),
    wordsOf(state),
    resultCell(rollout),
  ];
  return [[...head, ...(first ?? [])], ...others.map((cells) => [...head.map(() => ""), ...cells])];
}

/** Returns the cells of the changes: what the pinned copies show, and what Wave recorded of other objects. */
function changesOf({ changes, rollout }: HistoryEntry): readonly (readonly string[])[] {
  const { edits = [], heldBy = null } = rollout ?? {};
  const editOf = ({ name }: ConfigMapChange) => edits.find((edit) => edit.kind === "ConfigMap" && edit.name === name);
  const compared = changes.map((change) => [
    change.editedBy ?? editOf(change)?.editedBy ?? "-",
    describeChange(change),
  ]);
  const shown = changes.map(editOf);
  const recorded = edits
    .filter((edit) => !shown.includes(edit))
    .map(({ kind, name, keys, editedBy }) => {
      const object = kind === "ConfigMap" ? name : `${kind.toLowerCase()}/${name}`;
      return [editedBy ?? "-", keys.length === 0 ? object : `${object}: ${shortList(keys)}`];
    });
  const held = heldBy === null ? [] : [["-", `held by ${heldBy}`]];
  return [...compared, ...recorded, ...held];
}

/** Returns why there is a revision, on one line: what changed and who edited it, or the reason of Wave. */
export function causeText(entry: HistoryEntry): string {
  const changes = changesOf(entry).map(([by, text]) => (by === "-" ? text : `${text} (${by})`));
  return changes.join("; ") || whyOf(entry);
}

/** Returns how a revision is or ended, on one line: `complete in 24s`, `rolling out`. */
export function resultText({ state, rollout }: HistoryEntry): string {
  return rollout === null || rollout.end === null ? wordsOf(state) : resultCell(rollout);
}

function whyOf({ cause, rollout }: HistoryEntry): string {
  return rollout === null ? causes[cause] : rollout.why;
}

/** Returns how a rollout ended: `complete in 24s`, `failed: web-7f CrashLoopBackOff`. */
function resultCell(rollout: RevisionRollout | null): string {
  if (rollout === null || rollout.end === null) return "-";
  const { result, at, why } = rollout.end;
  if (result === "failed") return why === null ? result : `${result}: ${why}`;
  return at === null
    ? result
    : `${result} in ${formatDuration(Math.max(1_000, Date.parse(at) - Date.parse(rollout.startedAt)))}`;
}

/** Returns the number of Pods, and how many of them read live configuration although their revision is pinned. */
function podsCell({ pods, pinning }: HistoryEntry): string {
  if (pods === null) return "-";
  const live = pinning === null ? 0 : pinning.unpinned + pinning.partlyPinned;
  return live === 0 ? String(pods) : `${pods} (${live} live)`;
}

/** Returns what changed in a ConfigMap: `page: color, +title`. */
function describeChange({ name, how, added, removed, changed }: ConfigMapChange): string {
  const texts = {
    changed: shortList([...changed, ...added.map((key) => `+${key}`), ...removed.map((key) => `-${key}`)]),
    pinned: "first pinned",
    unpinned: "no longer pinned",
    unknown: "unknown: a copy is gone",
  };
  return `${name}: ${texts[how]}`;
}

function shortList(keys: readonly string[]): string {
  const rest = keys.length - shownKeys;
  return keys.slice(0, shownKeys).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
