// `wave history KIND/NAME`. This folder compares and renders revisions; src/cli/cluster/revisions reads them.
import type { Workload } from "../../domain/model/workload.ts";
import { podSelector } from "../../domain/pods/pod-selector.ts";
import type { StoredName } from "../../domain/references/references.ts";
import { isClusterFailure } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { type ReadConfigs, readManyConfigs } from "../cluster/read/configs.ts";
import { readPods } from "../cluster/read/pods.ts";
import type { StoredRevision } from "../cluster/revisions/read-revisions.ts";
import { readWorkloadRevisions } from "../cluster/revisions/workload-revisions.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import { readWaveEvents, type WaveEvent } from "../cluster/timeline/wave-events.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { exitCodeFor, exitCodes } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { parseWorkloadArgument, type WorkloadArgument, workloadArgumentKinds } from "../command/workload-argument.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { choice } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { isForProgram, programForms, programText } from "../output/program-text.ts";
import { renderHistory } from "./history-output.ts";
import { type HistoryFacts, revisionStates, workloadHistory } from "./workload-history.ts";

const flags = {
  namespace: namespaceFlag,
  output: choice({
    group: namespaceFlag.group,
    short: "o",
    of: ["table", ...programForms],
    default: "table",
    placeholder: "FORMAT",
    help: "table, json or yaml.",
  }),

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
    words: { heading: "States", meanings: wordsOf(revisionStates) },
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
        const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
        terminal.write(renderHistory(entries, Date.now(), paint));
      }
      return exitCodeFor({ complete: gaps.length === 0 });
    };
  },
});

/** Returns the states as the table shows them: two words for "rollingOut". */
function wordsOf(states: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const spaced = (word: string) => word.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(states).map(([word, means]) => [spaced(word), means]));
}

/**
 * Reads what the history of a workload depends on. `gaps` are the failed reads, one line each. Throws what {@link readWorkloadRevisions}
 * throws.
 */
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
  const read = await readManyConfigs(client, copiesAndSources(workload, revisions));
  const { events, why } = await readEvents(client, namespace, workload.uid);
  return {
    facts: { object, workload, flags: policy.pacing, now: Date.now(), revisions, read, pods, events },
    gaps: [
      ...gaps,
      ...why,
      ...(pods.state === "unread" ? [`Pods are unknown: ${pods.why}.`] : []),
      ...unreadCopies(read),
    ],
  };
}

/** Reads the Events of Wave about a workload. `why` has one line if they could not be read. */
async function readEvents(
  client: ApiClient,
  namespace: string,
  uid: string,
): Promise<{ readonly events: readonly WaveEvent[]; readonly why: readonly string[] }> {
  try {
    return { events: await readWaveEvents(client, { namespace, uid }), why: [] };
  } catch (error) {
    if (!isClusterFailure(error)) throw error;
    return { events: [], why: [`Results are unknown: cannot list Events: ${errorText(error)}.`] };
  }
}

function copiesAndSources({ namespace }: Workload, revisions: readonly StoredRevision[]): readonly StoredName[] {
  const names = new Set(revisions.flatMap(({ pins }) => (pins === undefined ? [] : [...pins].flat())));
  return [...names].map((name) => ({ kind: "ConfigMap", namespace, name }));
}

/** Returns one line if ConfigMaps could not be read, with the first cause. */
function unreadCopies(read: ReadConfigs): readonly string[] {
  for (const found of read.values())
    if (found.state === "forbidden" || found.state === "unreadable")
      return [`Changes are unknown: cannot read ConfigMaps: ${found.error}.`];
  return [];
}
