import type { StoredName } from "../../domain/references/references.ts";
import { isDnsLabel, isDnsSubdomain } from "../../domain/syntax/names.ts";
import type { Clock } from "../../lib/clock.ts";
import { explainObject } from "../cluster/explanation/object-explanation.ts";
import { mapBounded } from "../cluster/requests.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import { readObjectFacts, readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import { readTimeline } from "../cluster/timeline/read-timeline.ts";
import { timelineOf } from "../cluster/timeline/timeline.ts";
import { CommandFailure, exitCodes, reportFailure } from "../command/command.ts";
import { renderExplanation } from "../explain/explain-text.ts";
import { causeText, readHistory, resultText } from "../history/history.ts";
import { workloadHistory } from "../history/workload-history.ts";
import type { ClusterFeed } from "./cluster-feed.ts";
import { EditLog } from "./edit-log.ts";
import type { Id, ObjectDetail, TimelineEntry, WorkloadDetail } from "./model.ts";
import type { DetailAnswer, PageServerOptions } from "./page-server.ts";
import { taskRows } from "./task-rows.ts";
import { type ExplainedWorkload, explainRow, objectName, podSquare, sortedPods, workloadId } from "./workload-rows.ts";

type Feeds = ReadonlyMap<Id, ClusterFeed>;

/** Returns the answers of the server to requests for details. Each reads the cluster when it is requested. */
export function readDetails(feeds: Feeds, clock: Clock): PageServerOptions["details"] {
  return {
    workload: (query) => answerOf(() => workloadDetail(query.get("id") ?? "", feeds, clock)),
    object: (query) => answerOf(() => objectDetail(query, feeds)),
    timeline: (query) => answerOf(() => timeline(query, feeds)),
  };
}

async function answerOf(read: () => Promise<object>): Promise<DetailAnswer> {
  try {
    return { status: 200, body: await read() };
  } catch (error) {
    const failure = reportFailure(error, undefined);
    if (failure === undefined) throw error;
    return { status: failure.code === exitCodes.no ? 404 : 502, body: { error: failure.line } };
  }
}

const texts = { notFound: "Not found.", tooEarly: "The cluster has not been read yet. Try again." };

function notFound(): CommandFailure {
  return new CommandFailure(texts.notFound);
}

function policyOf({ policy }: ClusterFeed): KnownPolicy {
  if (policy !== undefined) return policy;
  throw new CommandFailure(texts.tooEarly, exitCodes.incomplete);
}

async function workloadDetail(id: Id, feeds: Feeds, clock: Clock): Promise<WorkloadDetail> {
  // The form of `workloadId`.
  const [clusterOf = "", namespace = "", kindName, name = "", ...rest] = id.split("/");
  const feed = feeds.get(clusterOf);
  if (feed === undefined || !isDnsLabel(namespace) || !isDnsSubdomain(name) || rest.length > 0) throw notFound();
  const { cluster, contextFlag } = feed.options;
  const policy = policyOf(feed);
  const row = policy.kinds.find((each) => each.id.toLowerCase() === kindName);
  if (row === undefined) throw notFound();
  const argument = { kind: row.id, resource: row, name };
  const [snapshot, history] = await Promise.all([
    readWorkloadSnapshot(cluster, argument, namespace, policy),
    historyOf(() => readHistory(argument, namespace, cluster, policy)),
  ]);
  const explained = explainRow(snapshot, clusterOf);
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
      object: objectName(object, namespace),
      keys,
      state,
    })),
    holds: holdsOf(explained, { cluster: clusterOf, contextFlag }),
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

async function objectDetail(query: URLSearchParams, feeds: Feeds): Promise<ObjectDetail> {
  const clusterOf = query.get("cluster") ?? "";
  const feed = feeds.get(clusterOf);
  const parts = (query.get("object") ?? "").split("/");
  const [kindName = "", name = ""] = [parts[0], parts.at(-1)];
  const namespace = parts.length === 3 ? (parts[1] ?? "") : (query.get("namespace") ?? "");
  const kind = Object.hasOwn(objectKinds, kindName) ? objectKinds[kindName as keyof typeof objectKinds] : undefined;
  if (feed === undefined || kind === undefined || parts.length > 3 || !isDnsLabel(namespace) || !isDnsSubdomain(name))
    throw notFound();
  const object: StoredName = { kind, namespace, name };
  const facts = await readObjectFacts(feed.options.cluster, object, policyOf(feed));
  const { state, readers, notOptedIn } = explainObject(facts);
  return {
    state,
    readers: readers.map(({ keys, edit, hold, ...workload }) => ({
      workload: workloadId(clusterOf, workload),
      name: objectName(workload, workload.namespace),
      keys,
      edit,
      hold: hold?.message ?? null,
    })),
    notOptedIn: notOptedIn.map((each) => objectName(each, each.namespace)),
  };
}

/** Reads what happened in all clusters. A cluster that cannot be read has no entries, unless no cluster can be read. */
async function timeline(query: URLSearchParams, feeds: Feeds): Promise<{ readonly entries: readonly TimelineEntry[] }> {
  const since = Number(query.get("since"));
  const only = query.get("namespace") || undefined;
  if (!Number.isFinite(since) || (only !== undefined && !isDnsLabel(only))) throw notFound();
  const failures: unknown[] = [];
  const read = await mapBounded([...feeds], async ([id, { options, policy }]) => {
    if (policy === undefined) return [];
    try {
      const facts = await readTimeline(options.cluster.client, only ?? options.call.values.namespace, policy);
      return timelineOf(facts, since).map((entry) => ({ ...entry, cluster: id }));
    } catch (error) {
      failures.push(error);
      return [];
    }
  });
  if (failures.length > 0 && failures.length === feeds.size) throw failures[0];
  return { entries: read.flat().toSorted((a, b) => a.at - b.at) };
}
