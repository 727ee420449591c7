// The collector of pinned copies: deletes copies that nothing uses, and stores copies again that were deleted while in use. Its only record
// is the mark in each copy.
import type { OwnerReference } from "#kubernetes";
import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import {
  type CollectPlan,
  type CopyAction,
  keptCopies,
  type StoredCopy,
  totalsOf,
  unusedMs,
} from "../../domain/pinning/collect.ts";
import { formatCount, quoted } from "../../domain/syntax/names.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { FreshListOptions } from "../../kube/reads/reads.ts";
import { done, type Result, Workers } from "../../runtime/workers.ts";
import type { ControllerPermits } from "../../runtime/write-permits.ts";
import { pinnedCopyMetrics } from "../../telemetry/catalogue/pinned-copies.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { Counter, MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { LabelsOf } from "../../telemetry/metrics/series.ts";
import type { LeaderController, LeaderParts } from "../leader-context.ts";
import { planSweep, readNamespacesWithCopies, type UsesRead } from "./read-uses.ts";
import { recreateCopy, writeCopy } from "./write-copies.ts";

/** The times of the collector, in milliseconds. */
export interface CollectorTimes {
  /** The period of the sweeps of each namespace. */
  readonly sweepMs: number;
  /** The delay of the sweep after the pins of a workload changed: until then, the old Pods have ended in most cases. */
  readonly afterRolloutMs: number;
  /** How old the mark of a copy must be. */
  readonly waitMs: number;
  /** How long this process must have seen the mark. The clock that wrote the mark may have been wrong. */
  readonly seenMs: number;
}

interface CopyCollectorOptions
  extends LeaderParts<"policy" | "clock" | "log" | "random" | "leadership" | "permits" | "post", "workload" | "kinds"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly writes: Counter<LabelsOf<typeof pinnedCopyMetrics.writes>>;
  readonly times: CollectorTimes;
  /** Receives a workload with a Pod that reads no copy although its template names copies, by its key. */
  readonly onUnpinned?: ((key: string) => void) | undefined;
}

/** The times of the collector. */
export const collectorTimes: CollectorTimes = {
  sweepMs: 600_000,
  afterRolloutMs: 120_000,
  waitMs: unusedMs,
  seenMs: 600_000,
};

/** The delay of the sweep after the deletion of a copy, in milliseconds: the copies of a deleted workload are deleted one by one. */
const afterDeletionMs = 2_000;

/** Number and size of the copies of a namespace at its last sweep, by use. */
type CopyCounts = Readonly<Record<(typeof uses)[number], number>>;

const namespacesAtOnce = 2;
const backoff = { baseMs: 1_000, retryMaxMs: 300_000 };
/** The key of the sweep of all namespaces, which finds the namespaces with copies. */
const everywhere = "";
/** The delay of the next sweep while a copy is lost, in milliseconds: its content may be live again. */
const lostCopyMs = 60_000;
/** The Events of one sweep: a namespace may have any number of workloads. */
const maxEvents = 20;

/**
 * Deletes unused pinned copies. The queue has namespaces. Each sweep reads the copies of its namespace and everything that may use them
 * from the API server, and then writes. It keeps nothing that the next leader needs: the marks are in the copies.
 */
export class CopyCollector implements LeaderController {
  readonly #options: CopyCollectorOptions;
  readonly #workers: Workers;
  readonly #permits: ControllerPermits;
  /** Since when this process has seen the marks of the copies of each namespace, in monotonic milliseconds. */
  readonly #marks = new Map<string, ReadonlyMap<string, number>>();
  readonly #counts = new Map<string, CopyCounts>();

  constructor(options: CopyCollectorOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#permits = options.permits.of("housekeeping", { flowOf: (namespace) => namespace });
    this.#workers = new Workers({
      clock,
      random,
      workers: namespacesAtOnce,
      flowOf: (namespace) => namespace,
      backoff,
      reconcile: (namespace) => this.#run(namespace),
    });
  }

  get counts(): Iterable<CopyCounts> {
    return this.#counts.values();
  }

  /** If the pins of a workload changed, its namespace is swept some time later. */
  onWorkloadChange({ before, after }: StoreChange<Workload>): void {
    if (before?.pinned === after?.pinned) return;
    this.#enqueue((after ?? before)?.namespace ?? "", this.#options.times.afterRolloutMs);
  }

  /** If a copy was deleted, its namespace is swept soon. */
  onConfigChange({ before, after }: StoreChange<Config>): void {
    if (before?.isCopy && after === undefined) this.#enqueue(before.namespace, afterDeletionMs);
  }

  #enqueue(namespace: string, delayMs: number): void {
    this.#workers.add(namespace, { urgency: "low", delayMs });
  }

  /** Sweeps everywhere now and in each period, until the leadership ends. */
  async run(): Promise<void> {
    this.#workers.add(everywhere);
    await this.#workers.run(this.#options.leadership.stop);
  }

  async #run(namespace: string): Promise<Result> {
    try {
      return namespace === everywhere ? await this.#everywhere() : await this.#namespace(namespace);
    } catch (error) {
      if (this.#options.permits.isOver) return done;
      if (apiFailureOf(error) === undefined) throw error;
      const fields = { namespace: namespace === everywhere ? undefined : namespace, error: errorText(error) };
      this.#options.log.warn(logMessages.copiesNotSwept, fields);
      return { type: "retry", atLeastMs: retryAfterMs(error) };
    }
  }

  async #everywhere(): Promise<Result> {
    const { policy, times } = this.#options;
    const namespaces = policy.namespaces ?? (await readNamespacesWithCopies(this.#listing));
    const all = new Set([...namespaces, ...this.#counts.keys()]);
    for (const namespace of all) this.#workers.add(namespace, { urgency: "low" });
    return { type: "requeueAfter", delayMs: times.sweepMs };
  }

  async #namespace(namespace: string): Promise<Result> {
    const { caches, clock, times } = this.#options;
    const { copies, uses, plan } = await planSweep(namespace, caches.kinds(), this.#listing, (read) => ({
      now: clock.wall(),
      unseenMs: this.#seeMarks(namespace, read),
      waitMs: times.waitMs,
    }));
    this.#count(namespace, copies, uses);
    for (const key of uses.unpinned) this.#options.onUnpinned?.(key);
    if (!(await this.#carryOut(namespace, plan)) || !(await this.#recreate(namespace, uses))) return done;
    this.#reportExcess(namespace, copies, uses, plan);
    const delayMs = Math.min(
      plan.dueInMs ?? Number.POSITIVE_INFINITY,
      uses.lost.length > 0 ? lostCopyMs : Number.POSITIVE_INFINITY,
    );
    return Number.isFinite(delayMs) ? { type: "requeueAfter", delayMs } : done;
  }

  /** Records the marks of all copies of a namespace, and returns how much longer the mark of each copy must be seen. */
  #seeMarks(namespace: string, copies: readonly StoredCopy[]): (copy: StoredCopy) => number {
    const { clock, times } = this.#options;
    const now = clock.monotonic();
    const before = this.#marks.get(namespace);
    const marked = copies.filter(({ unusedSince }) => unusedSince !== undefined);
    const since = new Map(marked.map((copy) => [markOf(copy), before?.get(markOf(copy)) ?? now]));
    if (since.size === 0) this.#marks.delete(namespace);
    else this.#marks.set(namespace, since);
    return (copy) => (since.get(markOf(copy)) ?? now) + times.seenMs - now;
  }

  get #listing(): FreshListOptions {
    const { client, clock, log, leadership } = this.#options;
    return { client, clock, log, signal: leadership.abort };
  }

  /** Returns false if the leadership ended. */
  async #carryOut(namespace: string, { actions }: CollectPlan): Promise<boolean> {
    const { log, writes } = this.#options;
    for (const action of actions) {
      if (!(await this.#permits.wait(namespace))) return false;
      const write = await writeCopy(namespace, action, this.#options);
      writes.inc({ write });
      if (write === "refused") log.warn(logMessages.copyNotWritten, { namespace, name: action.copy.name });
      if (write === "deleted") log.info("unused pinned copy deleted", { namespace, name: action.copy.name });
    }
    return true;
  }

  /** Returns false if the leadership ended. */
  async #recreate(namespace: string, { lost }: UsesRead): Promise<boolean> {
    const { log, writes } = this.#options;
    for (const copy of new Map(lost.map((each) => [each.copy, each])).values()) {
      if (!(await this.#permits.wait(namespace))) return false;
      const result = await recreateCopy(namespace, copy, this.#options);
      if (result === "recreated") writes.inc({ write: result });
      if (result === "lost") {
        const { kind, name } = copy.workload;
        log.warn(logMessages.copyLost, { namespace, copy: copy.copy, workload: `${kind}/${name}` });
        const users = lost.filter((each) => each.copy === copy.copy).map(({ workload }) => workload);
        const message = collectorTexts.copyLost(quoted(copy.copy), quoted(copy.source));
        this.#report(namespace, users, { reason: "PinnedCopyLost", message });
      }
    }
    return true;
  }

  /** Reports on workloads that their old revisions lose copies, when the copies are marked. */
  #reportExcess(namespace: string, copies: readonly StoredCopy[], { oldOf }: UsesRead, { actions }: CollectPlan): void {
    const isExcess = (action: CopyAction) => action.type === "mark" && action.excess;
    const owners = actions.filter(isExcess).flatMap(({ copy }) => oldOf.get(copy.name) ?? []);
    const { objects, bytes } = totalsOf(copies);
    const message = collectorTexts.copiesOverLimit(formatCount(objects), `${Math.ceil(bytes / mebibyte)} MiB`);
    this.#report(namespace, owners, { reason: "PinnedCopiesOverLimit", message });
  }

  /** Records a warning on each of these workloads, up to a limit. */
  #report(
    namespace: string,
    workloads: readonly OwnerReference[],
    event: { readonly reason: string; readonly message: string },
  ): void {
    for (const workload of [...new Map(workloads.map((each) => [each.uid, each])).values()].slice(0, maxEvents)) {
      if (this.#options.permits.isOver) return;
      const { apiVersion, kind, name, uid } = workload;
      const regarding = { apiVersion, kind, namespace, name, uid };
      this.#options.post({ regarding, type: "Warning", ...event, repeats: "perhaps" });
    }
  }

  #count(namespace: string, copies: readonly StoredCopy[], { running, old }: UsesRead): void {
    if (copies.length === 0) this.#counts.delete(namespace);
    else {
      const used = copies.filter(({ name }) => running.has(name)).length;
      const kept = copies.filter(({ name }) => !running.has(name) && old.has(name)).length;
      this.#counts.set(namespace, { running: used, old: kept, unused: copies.length - used - kept });
    }
  }
}

/** Returns what identifies a mark: another mark of the same copy has another time. */
function markOf({ uid, unusedSince }: StoredCopy): string {
  return `${uid} ${unusedSince}`;
}

const uses = ["running", "old", "unused"] as const;

/** Registers the metrics of the collector, and returns the counter of its writes. `counts` are those of the current leadership. */
export function copyMetrics(
  metrics: MetricsRegistry,
  counts: () => Iterable<CopyCounts>,
): CopyCollectorOptions["writes"] {
  const gauge = metrics.gauge(pinnedCopyMetrics.copies);
  gauge.collect(() => {
    const total = { running: 0, old: 0, unused: 0 };
    for (const each of counts()) for (const use of uses) total[use] += each[use];
    for (const use of uses) gauge.set(total[use], { use });
  });
  return metrics.counter(pinnedCopyMetrics.writes);
}

const mebibyte = 1024 * 1024;

/** The texts of the Events of the collector. */
export const collectorTexts = {
  copiesOverLimit: (objects: string, bytes: string) =>
    `An old revision will lose its pinned copies: the namespace has ${objects} copies (${bytes}), limit ${keptCopies.objects} (${keptCopies.bytes / mebibyte} MiB). Lower revisionHistoryLimit.`,
  copyLost: (copy: string, source: string) =>
    `New Pods cannot start: pinned copy ${copy} was deleted, and ConfigMap ${source} has other content now. Restore this content, or unpin and restart the workload.`,
} as const;
