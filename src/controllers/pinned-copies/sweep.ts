import type { Caches } from "../../cache/caches.ts";
import { type CollectPlan, type CopyAction, type StoredCopy, totalsOf } from "../../domain/pinning/collect.ts";
import type { ClusterPolicy } from "../../domain/policy/cluster-policy.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FreshListOptions } from "../../pinning/fresh-list.ts";
import { readNamespacesWithCopies } from "../../pinning/read-copies.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { done, type Result } from "../../runtime/result.ts";
import type { TokenBucket } from "../../runtime/token-bucket.ts";
import { Workers } from "../../runtime/workers.ts";
import type { pinnedCopyMetrics } from "../../telemetry/catalogue/pinned-copies.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { LabelsOf } from "../../telemetry/metrics/metric-row.ts";
import type { Counter } from "../../telemetry/metrics/metrics.ts";
import { CopyPermits } from "./copy-permits.ts";
import { MarksSeen } from "./marks-seen.ts";
import { planSweep } from "./plan-sweep.ts";
import type { UsesRead } from "./read-uses.ts";
import { recreateCopy } from "./recreate.ts";
import { copiesOverLimitEvent } from "./texts.ts";
import { writeCopy } from "./write-copies.ts";

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

/** What the sweeps need. */
export interface CopySweepsOptions {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly caches: Pick<Caches, "workload" | "kinds">;
  readonly policy: ClusterPolicy;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leadership: Leadership;
  readonly tokens: TokenBucket;
  readonly writes: Counter<LabelsOf<typeof pinnedCopyMetrics.writes>>;
  readonly times: CollectorTimes;
  readonly random: () => number;
}

/** Number and size of the copies of a namespace at its last sweep, by use. */
export type CopyCounts = Readonly<Record<"running" | "old" | "unused", number>>;

const namespacesAtOnce = 2;
const backoff = { baseMs: 1_000, retryMaxMs: 300_000 };
/** The key of the sweep of all namespaces, which finds the namespaces with copies. */
const everywhere = "";
/** The Events of one sweep: a namespace may have any number of workloads. */
const maxEvents = 20;

/**
 * The sweeps for one leadership. The queue has namespaces. Each sweep reads the copies of its namespace and everything that may use them
 * from the API server, and then writes. It keeps nothing that the next leader needs: the marks are in the copies.
 */
export class CopySweeps {
  readonly #options: CopySweepsOptions;
  readonly #workers: Workers;
  readonly #permits: CopyPermits;
  readonly #marks: MarksSeen;
  readonly #counts = new Map<string, CopyCounts>();

  constructor(options: CopySweepsOptions) {
    const { clock, random, times } = options;
    this.#options = options;
    this.#permits = new CopyPermits(options);
    this.#marks = new MarksSeen(clock, times.seenMs);
    this.#workers = new Workers({
      clock,
      random,
      workers: namespacesAtOnce,
      flowOf: (namespace) => namespace,
      backoff,
      reconcile: (namespace) => this.#run(namespace),
    });
  }

  /** The counts of each namespace that was swept. */
  get counts(): Iterable<CopyCounts> {
    return this.#counts.values();
  }

  /** Enqueues a namespace. */
  enqueue(namespace: string, delayMs: number): void {
    this.#workers.add(namespace, { urgency: "low", delayMs });
  }

  /** Sweeps everywhere now and in each period, until the leadership ends. */
  async run(): Promise<void> {
    const { stop, abort } = this.#options.leadership;
    const over = AbortSignal.any([stop, abort]);
    over.addEventListener("abort", () => this.#permits.close(), { once: true });
    if (over.aborted) this.#permits.close();
    this.#workers.add(everywhere);
    await this.#workers.run(over);
  }

  get #isOver(): boolean {
    const { stop, abort, valid } = this.#options.leadership;
    return stop.aborted || abort.aborted || !valid();
  }

  async #run(namespace: string): Promise<Result> {
    try {
      return namespace === everywhere ? await this.#everywhere() : await this.#namespace(namespace);
    } catch (error) {
      if (this.#isOver) return done;
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

  /** Reads everything, and then writes. */
  async #namespace(namespace: string): Promise<Result> {
    const { caches, clock, times } = this.#options;
    const { copies, uses, plan } = await planSweep(namespace, caches.kinds(), this.#listing, (read) => ({
      now: clock.wall(),
      unseenMs: this.#marks.see(namespace, read),
      waitMs: times.waitMs,
    }));
    this.#count(namespace, copies, uses);
    if (!(await this.#carryOut(namespace, plan)) || !(await this.#recreate(namespace, uses))) return done;
    await this.#reportExcess(namespace, copies, uses, plan);
    return plan.dueInMs === undefined ? done : { type: "requeueAfter", delayMs: plan.dueInMs };
  }

  get #listing(): FreshListOptions {
    const { client, clock, log, leadership } = this.#options;
    return { client, clock, log, signal: leadership.abort };
  }

  /** Returns false if the leadership ended. */
  async #carryOut(namespace: string, { actions }: CollectPlan): Promise<boolean> {
    const { log, writes } = this.#options;
    for (const action of actions) {
      if (!(await this.#permits.take(namespace)) || this.#isOver) return false;
      const write = await writeCopy(namespace, action, this.#options);
      writes.inc({ write });
      if (write === "deleted") log.info("unused pinned copy deleted", { namespace, name: action.copy.name });
    }
    return true;
  }

  async #recreate(namespace: string, { lost }: UsesRead): Promise<boolean> {
    const { log, writes } = this.#options;
    for (const copy of new Map(lost.map((each) => [each.copy, each])).values()) {
      if (!(await this.#permits.take(namespace)) || this.#isOver) return false;
      const result = await recreateCopy(namespace, copy, this.#options);
      if (result === "recreated") writes.inc({ write: result });
      if (result === "lost") {
        const { kind, name } = copy.workload;
        log.warn(logMessages.copyLost, { namespace, copy: copy.copy, workload: `${kind}/${name}` });
      }
    }
    return true;
  }

  /** Reports on workloads that their old revisions lose copies, when the copies are marked. */
  async #reportExcess(
    namespace: string,
    copies: readonly StoredCopy[],
    { oldOf }: UsesRead,
    { actions }: CollectPlan,
  ): Promise<void> {
    const isExcess = (action: CopyAction) => action.type === "mark" && action.excess;
    const owners = actions.filter(isExcess).flatMap(({ copy }) => oldOf.get(copy.name) ?? []);
    const event = copiesOverLimitEvent(totalsOf(copies));
    for (const owner of [...new Map(owners.map((each) => [each.uid, each])).values()].slice(0, maxEvents)) {
      if (this.#isOver) return;
      const { apiVersion, kind, name, uid } = owner;
      const regarding = { apiVersion, kind, namespace, name, uid };
      await this.#options.recorder.record({ regarding, ...event, repeats: "perhaps" });
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
