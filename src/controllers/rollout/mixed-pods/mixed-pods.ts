// Mixed Pods: Pods with the recorded hash that may run another configuration, because their containers started while the live
// configuration differed, or because they read no copy although their template names copies. When nothing differs any more, Wave reads
// the Pods. What it finds is a fact for the decision, which rolls the workload.
import { workloadPath } from "../../../cache/workloads/workload-reads.ts";
import { MalformedWorkload, toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { isRollAgain, type RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import type { MixedPods } from "../../../domain/pacing/moment.ts";
import { readMargins } from "../../../domain/pods/pod-state.ts";
import {
  annotationFor,
  endOf,
  type KnownSpans,
  noteAfterMs,
  observeConfig,
  openSpanOf,
  recordedSpans,
  type Span,
  withoutSpansUntil,
} from "../../../domain/pods/spans.ts";
import { apiFailureOf, retryAfterMs } from "../../../kube/api/api-failure.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/reads.ts";
import type { Clock } from "../../../lib/clock.ts";
import { errorText, logMessages } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { checkBy } from "../memory/finish.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import type { UnsettledChanges } from "../memory/pacing-memory.ts";
import type { Findings, UnpinnedPods, Writable } from "../memory/workload-memory.ts";
import { observationOf, readPods } from "./observation.ts";

/** What the search for mixed Pods needs. */
export interface MixedPodsOptions extends LeaderParts<"policy" | "clock" | "log" | "leadership", "lookup" | "kinds"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  /** The namespaces whose Pods are being read. Reading ten thousand Pods takes seconds. */
  readonly reading: Set<string>;
}

const namespacesAtOnce = 4;
/** The API shows the status of a Pod up to this time after a container started, in milliseconds. */
const statusDelayMs = 5_000;
/** The delay of the next read of Pods that are being replaced, and for each Pod, in milliseconds. */
const stepMs = 5_000;
const stepPerPodMs = 20;
/** The delay of the next read if the Pods are not ready, wait for a hold, or could not be read: the status of their node may be unknown. */
const laterMs = 60_000;
/** How long what was read is true enough for a rollout, in milliseconds. */
const validMs = 1_000;
/** The delay if the Pods of other workloads are being read. */
const busyMs = 1_000;

/** Why the Pods of a workload are read. */
interface Cause {
  /** Identifies the cause, so that Wave rolls once for it. */
  readonly id: string;
  readonly type: MixedPods["cause"];
  readonly spans: readonly Span[];
  /** The end of the last span, in milliseconds since the epoch; 0 without a span. */
  readonly lastEnd: number;
}

type MixedFindings = Writable<Pick<Findings, "mixed" | "notedSpansOf" | "checkAtMonotonic" | "caughtUpWith">>;

function causeOf(workload: Workload, { mixed }: MixedFindings, unpinned: UnpinnedPods | undefined): Cause | undefined {
  const { uid, recordedHash, pinned, strategy, row } = workload;
  // The Pods of other kinds are not known, or do not show what they were created from.
  if (!strategy.podsCarryHash || row.replicaSetLabel === undefined) return undefined;
  const { spans: known } = mixed ?? {};
  const spans = known?.uid === uid && known.hash === recordedHash ? recordedSpans(known) : [];
  if (openSpanOf(spans) !== undefined) return undefined;
  if (spans.length > 0) {
    const lastEnd = Math.max(...spans.map(endOf));
    return { id: `${recordedHash} ${lastEnd}`, type: "reverted", spans, lastEnd };
  }
  if (unpinned?.uid !== uid || unpinned.pinned !== pinned || unpinned === mixed?.settled) return undefined;
  return { id: `${uid} ${pinned}`, type: "unpinned", spans, lastEnd: 0 };
}

/**
 * Reads the Pods of a workload if that is due, and stores in `findings` what they show. Returns whether the plan must be made again. A failed
 * read is logged and repeated later: it delays no rollout. Rejects only for a bug.
 */
export async function findMixedPods(
  workload: Workload,
  plan: RolloutPlan,
  findings: MixedFindings,
  unpinned: UnpinnedPods | undefined,
  options: MixedPodsOptions,
): Promise<boolean> {
  const { clock, log, leadership, reading } = options;
  const isAgain = isRollAgain(plan);
  if (plan.outcome !== "current" && !isAgain) return false;
  const cause = causeOf(workload, findings, unpinned);
  const before = findings.mixed ?? noMixedPods;
  const store = (found: MixedPods | undefined, delayMs: number) => {
    const now = clock.monotonic();
    const { uid, recordedHash: hash } = workload;
    const pods = found && { ...found, uid, hash, id: cause?.id ?? "", at: now };
    findings.mixed = { ...before, pods, readFor: cause?.id, nextAt: now + delayMs };
    return isAgain || found !== undefined;
  };
  if (cause === undefined) return isAgain && store(undefined, 0);
  if (cause.lastEnd + readMargins.clocksMs + statusDelayMs > clock.wall()) return isAgain && store(undefined, 0);
  const now = clock.monotonic();
  const isNeeded = plan.outcome === "roll" && now - (before.pods?.at ?? Number.NEGATIVE_INFINITY) > validMs;
  if (!isNeeded && nextReadAt(before, cause) > now) return false;
  const { namespace } = workload;
  if (reading.has(namespace) || reading.size >= namespacesAtOnce) return store(undefined, busyMs);
  reading.add(namespace);
  try {
    return await readAll(workload, cause, findings, unpinned, store, options);
  } catch (error) {
    if (leadership.abort.aborted || error instanceof MalformedWorkload) return store(undefined, 0);
    if (apiFailureOf(error) === undefined) throw error;
    log.warn(logMessages.mixedPodsKept, {
      workload: `${workload.kind}/${namespace}/${workload.name}`,
      error: errorText(error),
    });
    return store(undefined, Math.max(laterMs, retryAfterMs(error)));
  } finally {
    reading.delete(namespace);
  }
}

async function readAll(
  cached: Workload,
  cause: Cause,
  findings: MixedFindings,
  unpinned: UnpinnedPods | undefined,
  store: (found: MixedPods | undefined, delayMs: number) => boolean,
  options: MixedPodsOptions,
): Promise<boolean> {
  const { client, clock, log, policy, leadership } = options;
  const { spans, lastEnd, type, id } = cause;
  const signal = leadership.abort;
  const request = { path: workloadPath(cached), signal };
  const object = await getIfExists<KubeObject & WorkloadObject>(client, request);
  const workload = object && toWorkload(cached.row, object, policy);
  const { uid, recordedHash, pinned } = cached;
  // The cache is behind: its next change is a run of its own.
  if (
    object === undefined ||
    workload?.uid !== uid ||
    workload.recordedHash !== recordedHash ||
    workload.pinned !== pinned ||
    workload.deleting
  )
    return store(undefined, stepMs);
  const pods = await readPods(object, workload, spans, unpinned !== undefined, { ...options, signal });
  const nextMs = Math.max(stepMs, pods.total * stepPerPodMs);
  const isProgressing = workload.progress.state === "progressing";
  const hasRolled = findings.mixed?.rolledFor === id;
  const settle = () => {
    const { mixed } = findings;
    const left = mixed?.spans && withoutSpansUntil(mixed.spans, lastEnd);
    const settled = type === "unpinned" ? unpinned : mixed?.settled;
    const changed = store(undefined, 0);
    // The Pods that Wave could not replace stay as they are. Later ones are replaced.
    const rolledFor = pods.mixed > 0 ? id : undefined;
    if (findings.mixed !== undefined) findings.mixed = { ...findings.mixed, spans: left, settled, rolledFor };
    return changed;
  };
  if (pods.mixed > 0) {
    // A rollout is replacing Pods.
    if (isProgressing && (hasRolled || pods.otherHash > 0 || workload.rolledAt * 1000 > lastEnd))
      return store(undefined, nextMs);
    if (!hasRolled) return store({ mixed: pods.mixed, total: pods.total, cause: type }, laterMs);
    log.warn(logMessages.mixedPodsLeft, { workload: request.path, pods: pods.mixed });
    return settle();
  }
  const readsFiles = workload.references.some(({ reads, kind }) => reads === "files" || kind === "SecretProviderClass");
  const marginMs = readsFiles ? readMargins.filesMs : readMargins.clocksMs;
  const finalInMs = lastEnd + marginMs + statusDelayMs - clock.wall();
  if (finalInMs <= 0 && pods.unsettled === 0) return settle();
  return store(undefined, Math.max(finalInMs, pods.unsettled > 0 ? laterMs : 0));
}

const noMixedPods: NonNullable<Findings["mixed"]> = {
  spans: undefined,
  pods: undefined,
  readFor: undefined,
  nextAt: Number.NEGATIVE_INFINITY,
  rolledFor: undefined,
  settled: undefined,
};

/** Returns when the Pods may be read for a cause. Containers that started in a later span need a read of their own. */
function nextReadAt({ readFor, nextAt }: NonNullable<Findings["mixed"]>, { id }: Cause): number {
  return readFor === id ? nextAt : Number.NEGATIVE_INFINITY;
}

/** Forgets when the configuration differed from that of the recorded hash: all Pods have read what was recorded now. */
export function rememberProven(findings: MixedFindings, { uid }: Workload): void {
  findings.mixed = undefined;
  findings.notedSpansOf = uid;
}

/** Stores that a rollout replaces the mixed Pods. */
export function rememberRolledAgain(findings: MixedFindings): void {
  const { mixed } = findings;
  if (mixed?.pods !== undefined) findings.mixed = { ...mixed, pods: undefined, rolledFor: mixed.pods.id, nextAt: 0 };
}

/**
 * Stores what a run has shown about the live configuration, and when to check again. Returns the text of the annotation that the workload must
 * have; undefined if that is not known.
 */
export function observeRun(
  outcome: ReconcileOutcome,
  changes: UnsettledChanges | undefined,
  findings: MixedFindings,
  unpinned: UnpinnedPods | undefined,
  { caches, clock }: Pick<MixedPodsOptions, "caches" | "clock">,
): { readonly text: string | undefined } | undefined {
  const seen = observationOf(outcome, changes, findings, caches.lookup, clock);
  if (seen === undefined) return undefined;
  if (seen === "ignored" || seen === "replaced") {
    findings.mixed = undefined;
    // The cache may still have the note that the rollout removed.
    findings.notedSpansOf = outcome.type === "written" ? outcome.before.uid : undefined;
    return undefined;
  }
  const annotation = findings.notedSpansOf === seen.uid ? undefined : seen.annotation;
  findings.notedSpansOf = seen.uid;
  const spans = observeConfig(findings.mixed?.spans, { ...seen, annotation });
  const { mixed } = findings;
  const isKept = spans !== undefined || mixed?.pods !== undefined || unpinned !== undefined;
  findings.mixed = isKept ? { ...(mixed ?? noMixedPods), spans } : undefined;
  if (outcome.type !== "done") return undefined;
  const { workload } = outcome;
  checkLater(workload, spans, findings, unpinned, clock);
  const hasMixedPods = findings.mixed?.pods !== undefined;
  return { text: annotationFor(spans, workload.differed, hasMixedPods, clock.wall()) };
}

/** Stores when the next note or the next read of Pods is due. */
function checkLater(
  workload: Workload,
  known: KnownSpans | undefined,
  findings: MixedFindings,
  unpinned: UnpinnedPods | undefined,
  clock: Clock,
): void {
  const now = clock.monotonic();
  const onMonotonic = (wall: number) => now + wall - clock.wall();
  const open = known && openSpanOf(recordedSpans(known));
  if (open !== undefined) {
    const noteAt = onMonotonic(open.from + noteAfterMs);
    if (noteAt > now) checkBy(findings, noteAt);
    return;
  }
  const cause = causeOf(workload, findings, unpinned);
  if (cause === undefined) return;
  const readableAt = onMonotonic(cause.lastEnd + readMargins.clocksMs + statusDelayMs);
  checkBy(findings, Math.max(readableAt, now, nextReadAt(findings.mixed ?? noMixedPods, cause)));
}
