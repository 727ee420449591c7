import type { StoredName } from "../../domain/references/references.ts";
import { isDnsLabel, isDnsSubdomain } from "../../domain/syntax/names.ts";
import type { Clock } from "../../lib/clock.ts";
import { explainObject } from "../cluster/explanation/object-explanation.ts";
import { mapBounded } from "../cluster/requests.ts";
import { readObjectFacts, readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import { readTimeline } from "../cluster/timeline/read-timeline.ts";
import { timelineOf } from "../cluster/timeline/timeline.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { exitCodes, reportFailure } from "../command/command.ts";
import { renderExplanation } from "../explain/explain-text.ts";
import { causeText, readHistory, resultText } from "../history/history.ts";
import { workloadHistory } from "../history/workload-history.ts";
import type { ClusterFeed } from "./cluster-feed.ts";
import { EditLog } from "./edit-log.ts";
import type { Id, ObjectDetail, TimelineEntry, WorkloadDetail } from "./model.ts";
import type { DetailAnswer, PageServerOptions } from "./page-server.ts";
import { taskRows } from "./task-rows.ts";
import {
  type ExplainedWorkload,
  explainRow,
  objectName,
  parseWorkloadId,
  podSquare,
  sortedPods,
  workloadId,
} from "./workload-rows.ts";

interface DetailContext {
  readonly feeds: ReadonlyMap<Id, DetailSource>;
  readonly clock: Clock;
}

/** A cluster of the page. */
interface DetailSource {
  readonly feed: Pick<ClusterFeed, "policy">;
  readonly cluster: Cluster;
  readonly contextFlag: string;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
}

/** Returns the answers of the server to requests for details. Each reads the cluster when it is requested. */
export function readDetails(context: DetailContext): PageServerOptions["details"] {
  return {
    workload: (query) => answerOf(() => workloadDetail(query.get("id") ?? "", context)),
    object: (query) => answerOf(() => objectDetail(query, context)),
    timeline: (query) => answerOf(() => timeline(query, context)),
  };
}

/** An answer that is no detail. */
const answers = {
  notFound: { status: 404, body: { error: "Not found." } },
  tooEarly: { status: 503, body: { error: "The cluster has not been read yet. Try again." } },
} as const satisfies Readonly<Record<string, DetailAnswer>>;

async function answerOf(read: () => Promise<object | DetailAnswer>): Promise<DetailAnswer> {
  try {
    const result = await read();
    return "status" in result && "body" in result ? (result as DetailAnswer) : { status: 200, body: result };
  } catch (error) {
    const failure = reportFailure(error, undefined);
    if (failure === undefined) throw error;
    return { status: failure.code === exitCodes.no ? 404 : 502, body: { error: failure.line } };
  }
}

async function workloadDetail(id: Id, { feeds, clock }: DetailContext): Promise<WorkloadDetail | DetailAnswer> {
  const named = parseWorkloadId(id);
  const source = named && feeds.get(named.cluster);
  if (named === undefined || source === undefined || !isDnsLabel(named.namespace) || !isDnsSubdomain(named.name))
    return answers.notFound;
  const { cluster, feed, contextFlag } = source;
  const { policy } = feed;
  if (policy === undefined) return answers.tooEarly;
  const row = policy.kinds.find((each) => each.id.toLowerCase() === named.kind);
  if (row === undefined) return answers.notFound;
  const argument = { kind: row.id, resource: row, name: named.name };
  const [snapshot, history] = await Promise.all([
    readWorkloadSnapshot(cluster, argument, named.namespace, policy),
    historyOf(() => readHistory(argument, named.namespace, cluster, policy)),
  ]);
  const explained = explainRow(snapshot, named.cluster);
  const { explanation } = explained;
  return {
    explanation: renderExplanation(explanation, { now: clock.wall() }),
    pods: sortedPods(explained).map((pod) => ({
      ...podSquare(explained, pod),
      createdAt: pod.observed.createdAt,
      revision: pod.revision ?? null,
      restarts: pod.observed.restarts.count,
      proof: proofOf(explained, pod),
    })),
    references: explanation.references.map(({ path, keys, state, ...object }) => ({
      path,
      object: objectName(object, named.namespace),
      keys,
      state,
    })),
    holds: holdsOf(explained, { cluster: named.cluster, contextFlag }),
    history,
  };
}

/** Why a Pod has the content that the page shows. */
const proofs = {
  hash: "Its pod template has the current hash.",
  later: "All its containers started after the last change.",
  otherHash: "Its pod template has another hash.",
  unproven: "Its pod template has the current hash, but nothing shows that its containers read this configuration.",
  mixed: "A container started while the configuration differed from the hash.",
  unknown: "The current configuration is unknown.",
} as const;

function proofOf({ contentOf, snapshot }: ExplainedWorkload, pod: ExplainedWorkload["pods"][number]): string {
  const hasHash = pod.hash !== undefined && pod.hash === snapshot.found.workload.recordedHash;
  switch (contentOf(pod)) {
    case "current":
      return hasHash ? proofs.hash : proofs.later;
    case "old":
      return hasHash ? proofs.unproven : proofs.otherHash;
    case "mixed":
      return proofs.mixed;
    case "unknown":
      return proofs.unknown;
  }
}

/** Returns what holds a workload now, and what will hold its next rollout. */
function holdsOf(explained: ExplainedWorkload, context: { cluster: Id; contextFlag: string }): WorkloadDetail["holds"] {
  const { hold } = explained.explanation;
  const tasks = taskRows([explained], new EditLog(), context);
  const now = hold === null ? [] : [{ text: hold.message, command: null }];
  return [
    ...now,
    ...tasks.map(({ type, about, by, reason, command }) => ({
      text: [`${type}: ${about}`, reason, by].filter((part) => part !== null).join(" · "),
      command,
    })),
  ];
}

/** Returns a history, the newest revision first; empty if it cannot be read, or if the kind has no revisions. */
async function historyOf(read: () => ReturnType<typeof readHistory>): Promise<WorkloadDetail["history"]> {
  try {
    const { facts } = await read();
    return workloadHistory(facts)
      .map((entry) => ({
        revision: entry.revision,
        createdAt: entry.createdAt === null ? null : Date.parse(entry.createdAt),
        isCurrent: entry.state === "current" || entry.state === "rollingOut" || entry.state === "failed",
        cause: causeText(entry),
        result: resultText(entry),
      }))
      .reverse();
  } catch (error) {
    if (reportFailure(error, undefined) === undefined) throw error;
    return [];
  }
}

const objectKinds = { configmap: "ConfigMap", secret: "Secret" } as const;

async function objectDetail(query: URLSearchParams, { feeds }: DetailContext): Promise<ObjectDetail | DetailAnswer> {
  const clusterOf = query.get("cluster") ?? "";
  const source = feeds.get(clusterOf);
  const parts = (query.get("object") ?? "").split("/");
  const [kindName = "", name = ""] = [parts[0], parts.at(-1)];
  const namespace = parts.length === 3 ? (parts[1] ?? "") : (query.get("namespace") ?? "");
  const kind = Object.hasOwn(objectKinds, kindName) ? objectKinds[kindName as keyof typeof objectKinds] : undefined;
  if (source === undefined || kind === undefined || parts.length > 3 || !isDnsLabel(namespace) || !isDnsSubdomain(name))
    return answers.notFound;
  const { policy } = source.feed;
  if (policy === undefined) return answers.tooEarly;
  const object: StoredName = { kind, namespace, name };
  const { state, readers, notOptedIn } = explainObject(await readObjectFacts(source.cluster, object, policy));
  return {
    state,
    readers: readers.map(({ keys, edit, hold, ...workload }) => ({
      workload: workloadId(clusterOf, workload),
      name: `${workload.kind.toLowerCase()}/${workload.name}`,
      keys,
      edit,
      hold: hold?.message ?? null,
    })),
    notOptedIn: notOptedIn.map((each) => `${each.kind.toLowerCase()}/${each.name}`),
  };
}

/** Reads what happened in all clusters. A cluster that cannot be read has no entries, unless no cluster can be read. */
async function timeline(
  query: URLSearchParams,
  { feeds }: DetailContext,
): Promise<{ readonly entries: readonly TimelineEntry[] } | DetailAnswer> {
  const since = Number(query.get("since"));
  const only = query.get("namespace") || undefined;
  if (!Number.isFinite(since) || (only !== undefined && !isDnsLabel(only))) return answers.notFound;
  const failures: unknown[] = [];
  const read = await mapBounded([...feeds], async ([id, { cluster, feed, namespace }]) => {
    if (feed.policy === undefined) return [];
    try {
      const facts = await readTimeline(cluster.client, only ?? namespace, feed.policy);
      return timelineOf(facts, since).map((entry) => ({ ...entry, cluster: id }));
    } catch (error) {
      failures.push(error);
      return [];
    }
  });
  if (failures.length > 0 && failures.length === feeds.size) throw failures[0];
  return { entries: read.flat().toSorted((a, b) => a.at - b.at) };
}
