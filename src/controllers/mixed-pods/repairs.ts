import type { Caches } from "../../cache/caches.ts";
import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import {
  MalformedWorkload,
  namespaceOf,
  toWorkload,
  type Workload,
  type WorkloadObject,
} from "../../domain/model/workload.ts";
import { readMargins } from "../../domain/pods/pod-state.ts";
import { endOf, openSpanOf, type Span } from "../../domain/pods/span.ts";
import {
  annotationFor,
  noteAfterMs,
  observeConfig,
  recordedSpans,
  type SpanRecord,
  withoutSpansUntil,
} from "../../domain/pods/span-record.ts";
import { policyFor } from "../../domain/policy/cluster-policy.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import { configDiffered } from "../../domain/references/annotations.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";
import { done, type Result } from "../../runtime/result.ts";
import { Workers } from "../../runtime/workers.ts";
import type { ControllerPermits, WritePermits } from "../../runtime/write-permits.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { EndedRun } from "../observers/run-observer.ts";
import { writeAnnotation } from "../observers/write-annotation.ts";
import { writeLastNotes } from "./last-notes.ts";
import { observationOf } from "./observation.ts";
import { readPods } from "./read-pods.ts";
import { type RepairPodsOptions, type RepairProgress, repairHold, repairPods } from "./repair-pods.ts";
import { type MixedTexts, mixedTexts, unpinnedTexts } from "./texts.ts";

/** What the repairs need. */
export interface RepairsOptions extends Omit<RepairPodsOptions, "caches" | "client" | "takePermit"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly caches: Pick<Caches, "lookup" | "workload" | "kinds">;
  readonly permits: WritePermits;
  readonly random: () => number;
  /** Whether Wave's webhook points new Pods at their copies. */
  readonly webhooks: boolean;
}

/** A repair of one workload that has begun. */
interface BegunRepair {
  /** The spans in which its mixed Pods started; empty if it only replaces unpinned Pods. */
  readonly spans: readonly Span[];
  readonly texts: MixedTexts;
  readonly progress: RepairProgress | undefined;
  readonly reported: Set<string>;
  /** Reports whether the repair belongs to the workload as the API server has it. */
  readonly isOf: (workload: Workload) => boolean;
  readonly keep: (progress: RepairProgress) => void;
  /** Ends the repair: all Pods are right, or ("over") still mixed after Wave has replaced Pods. */
  readonly end: (how: "settled" | "over") => Result;
}

/** A workload with unpinned Pods. The entry stays after a repair in vain, so that Wave does not replace the same Pods again and again. */
interface UnpinnedPods {
  readonly uid: string;
  readonly pinned: string;
  readonly reported: Set<string>;
  readonly progress: RepairProgress | "over" | undefined;
}

/** Reading ten thousand Pods takes seconds, so that a few workloads are read at once. */
const workloadsAtOnce = 4;
const workloadsOfNamespaceAtOnce = 2;
const backoff = { baseMs: 1_000, retryMaxMs: 300_000 };
/** The API shows the status of a Pod up to this time after a container started, in milliseconds. */
const statusDelayMs = 5_000;
/** The delay of the next look at Pods that are not ready, in milliseconds: the status of their node may be unknown. */
const unsettledMs = 60_000;
/** Minimum time between two equal notes: caches may be behind, or another client removes the annotation. */
const noteAgainMs = 30_000;

/**
 * The memory and the queue of workloads whose configuration differed from that of their recorded hash, for one leadership. When it is the
 * same again, their Pods are read and mixed Pods are replaced. The annotations have what the next leader needs.
 */
export class Repairs {
  readonly #options: RepairsOptions;
  readonly #workers: Workers;
  readonly #permits: ControllerPermits;
  readonly #records = new Map<string, SpanRecord>();
  readonly #progress = new Map<string, RepairProgress>();
  /** The reported Events of the repair of the spans until `lastEnd`. A failed request does not change them. */
  readonly #reported = new Map<string, { readonly lastEnd: number; readonly messages: Set<string> }>();
  /** The workloads with Pods that read no copy although their template names copies. */
  readonly #unpinned = new Map<string, UnpinnedPods>();
  /** The workloads that were just rolled: until the next run, the memory and the caches are of the time before. */
  readonly #rolled = new Set<string>();
  readonly #notes = new Map<string, { readonly text: string | undefined; readonly at: number }>();

  constructor(options: RepairsOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#permits = options.permits.of("housekeeping", { flowOf: namespaceOf });
    this.#workers = new Workers({
      clock,
      random,
      workers: workloadsAtOnce,
      flowOf: namespaceOf,
      workersPerFlow: workloadsOfNamespaceAtOnce,
      backoff,
      urgencyOf: () => "low",
      reconcile: (key) => this.#run(key),
    });
  }

  /** The number of mixed Pods of all workloads, as they were last read. */
  get mixedPods(): number {
    return this.#allProgress().reduce((sum, { mixed }) => sum + mixed, 0);
  }

  /** The number of workloads with mixed Pods. */
  get mixedWorkloads(): number {
    return this.#allProgress().reduce((count, { mixed }) => count + (mixed > 0 ? 1 : 0), 0);
  }

  #allProgress(): readonly RepairProgress[] {
    const unpinned = this.#unpinned.values().map(({ progress }) => progress);
    return [...this.#progress.values(), ...unpinned.filter((each) => each !== undefined && each !== "over")];
  }

  /** Receives how a run of the rollout controller ended. */
  observe(key: string, run: EndedRun): void {
    const seen = observationOf(run, this.#options.caches.lookup, this.#options.clock);
    if (seen === undefined) return;
    const record = seen === "ignored" ? undefined : observeConfig(this.#records.get(key), seen);
    if (record !== undefined) this.#records.set(key, record);
    else if (seen === "ignored") this.forget(key);
    else this.#reset(key);
    if (run.plan === "rolled") {
      this.#rolled.add(key);
      return;
    }
    this.#rolled.delete(key);
    const isNoted = seen !== "ignored" && seen.annotation !== undefined;
    if (record !== undefined || isNoted) this.#workers.add(key, { urgency: "low" });
  }

  /** Receives a workload with unpinned Pods. They are replaced when nothing is due and no hold applies. */
  podsUnpinned(key: string): void {
    const { uid, pinned } = this.#options.caches.workload(key) ?? {};
    if (uid === undefined || pinned === undefined) return;
    const known = this.#unpinned.get(key);
    if (known?.uid !== uid || known.pinned !== pinned)
      this.#unpinned.set(key, { uid, pinned, reported: new Set(), progress: undefined });
    this.#workers.add(key, { urgency: "low" });
  }

  /** Works until the leadership ends, and then notes the open spans. */
  async run(): Promise<void> {
    const { stop, abort } = this.#options.leadership;
    await this.#workers.run(AbortSignal.any([stop, abort]));
    await writeLastNotes(this.#records, this.#options);
  }

  /** Forgets a workload that is gone or ignored. */
  forget(key: string): void {
    this.#reset(key);
    this.#notes.delete(key);
    this.#unpinned.delete(key);
  }

  /** Forgets the spans of a workload. The caches may still have the annotation that Wave has just removed. */
  #reset(key: string): void {
    this.#rolled.delete(key);
    this.#records.delete(key);
    this.#progress.delete(key);
    this.#reported.delete(key);
  }

  async #run(key: string): Promise<Result> {
    try {
      return await this.#workload(key);
    } catch (error) {
      if (this.#options.permits.isOver || error instanceof MalformedWorkload) return done;
      if (apiFailureOf(error) === undefined) throw error;
      this.#options.log.warn(logMessages.mixedPodsKept, { workload: key, error: errorText(error) });
      return { type: "retry", atLeastMs: retryAfterMs(error) };
    }
  }

  async #workload(key: string): Promise<Result> {
    const { caches, policy, clock } = this.#options;
    const workload = caches.workload(key);
    const record = this.#records.get(key);
    if (workload === undefined || workload.deleting || (record !== undefined && record.uid !== workload.uid)) {
      this.forget(key);
      return done;
    }
    if (this.#rolled.has(key)) return done;
    const isObserved = rolloutPolicyOf(workload, policyFor(workload, policy)).mode.value === "observe";
    const againMs = isObserved ? undefined : await this.#note(key, workload, record);
    const spans = record === undefined ? [] : recordedSpans(record);
    const open = openSpanOf(spans);
    if (open !== undefined) {
      const noteInMs = open.from + noteAfterMs - clock.wall();
      return noteInMs > 0 ? again(noteInMs) : againMs === undefined ? done : again(againMs);
    }
    const readInMs = Math.max(...spans.map(endOf)) + readMargins.clocksMs + statusDelayMs - clock.wall();
    if (readInMs > 0) return again(readInMs);
    const hasSpans = record !== undefined && spans.length > 0;
    const repair = hasSpans ? this.#repairOfSpans(key, record, spans) : this.#repairOfUnpinned(key, workload);
    if (repair === undefined) return againMs === undefined ? done : again(againMs);
    const { nextAt = 0, isHeld } = repair.progress ?? {};
    const waitMs = nextAt - clock.monotonic();
    const isReleased = isHeld && repairHold(workload, this.#options) === undefined;
    return waitMs > 0 && !isReleased ? again(waitMs) : this.#repair(key, repair, workload);
  }

  /** Writes the annotation if it differs. Returns when it must be checked again; undefined if it need not be. */
  async #note(key: string, workload: Workload, record: SpanRecord | undefined): Promise<number | undefined> {
    const { clock } = this.#options;
    const hasMixedPods = (this.#progress.get(key)?.mixed ?? 0) > 0;
    const text = annotationFor(record, workload.differed, hasMixedPods, clock.wall());
    if (text === workload.differed) return undefined;
    const last = this.#notes.get(key);
    const sinceMs = clock.monotonic() - (last?.at ?? Number.NEGATIVE_INFINITY);
    if (last?.text === text && sinceMs < noteAgainMs) return noteAgainMs - sinceMs;
    if (!(await this.#permits.wait(key))) return undefined;
    this.#notes.set(key, { text, at: clock.monotonic() });
    await writeAnnotation(workload, configDiffered, text, this.#options);
    return noteAgainMs;
  }

  #repairOfSpans(key: string, record: SpanRecord, spans: readonly Span[]): BegunRepair {
    const lastEnd = Math.max(...spans.map(endOf));
    return {
      spans,
      texts: mixedTexts,
      progress: this.#progressOf(key, lastEnd),
      reported: this.#reportedOf(key, lastEnd),
      isOf: ({ uid, recordedHash }) => uid === record.uid && recordedHash === record.hash,
      keep: (progress) => {
        // Kept also if a run has changed the record meanwhile: otherwise the step would be repeated at once.
        if (this.#records.get(key)?.uid === record.uid) this.#progress.set(key, { ...progress, lastEnd });
      },
      end: () => this.#settled(key, record),
    };
  }

  /** Returns undefined if the workload has no unpinned Pods, or if something else is due: new Pods are pinned. */
  #repairOfUnpinned(key: string, workload: Workload): BegunRepair | undefined {
    const known = this.#unpinned.get(key);
    if (known === undefined || known.progress === "over" || repairHold(workload, this.#options) === "outdated")
      return undefined;
    return {
      ...known,
      spans: [],
      texts: unpinnedTexts,
      progress: known.progress,
      isOf: ({ uid, pinned }) => uid === known.uid && pinned === known.pinned,
      keep: (progress) => {
        if (this.#unpinned.has(key)) this.#unpinned.set(key, { ...known, progress });
      },
      end: (how) => {
        if (how === "over") this.#unpinned.set(key, { ...known, progress: how });
        else this.#unpinned.delete(key);
        return done;
      },
    };
  }

  /** Reads the Pods and replaces the next mixed Pod, or ends the repair if no Pod is mixed any more. */
  async #repair(key: string, repair: BegunRepair, cached: Workload): Promise<Result> {
    const { client, caches, clock, log, policy, leadership, webhooks } = this.#options;
    const { spans, texts, reported, progress: before } = repair;
    const { row } = cached;
    // The Pods of other kinds are not known, or do not show what they were created from.
    if (!cached.strategy.podsCarryHash || row.replicaSetLabel === undefined) return repair.end("settled");
    const request = { path: workloadPath(cached), signal: leadership.abort };
    const object = await getIfExists<KubeObject & WorkloadObject>(client, request);
    if (object === undefined) return done;
    const workload = toWorkload(row, object, policy);
    // The rollout controller will run for what has changed.
    if (!repair.isOf(workload) || workload.deleting) return done;
    const lookup = caches.lookup;
    const ofWorkload = policyFor(workload, policy);
    const toRead = { object, workload, spans, lookup, policy: ofWorkload, kinds: caches.kinds(), webhooks };
    const pods = await readPods(toRead, { client, clock, log, signal: leadership.abort });
    if (this.#options.permits.isOver) return done;
    const lastEnd = Math.max(...spans.map(endOf));
    if (pods.mixed > 0) {
      const found = { object, workload, pods, progress: before, reported, texts };
      const progress = await repairPods(found, {
        ...this.#options,
        takePermit: () => this.#permits.wait(key),
      });
      if (progress === "over") return repair.end("over");
      repair.keep(progress);
      return again(0);
    }
    const readsFiles = workload.references.some(
      ({ reads, kind }) => reads === "files" || kind === "SecretProviderClass",
    );
    const marginMs = readsFiles ? readMargins.filesMs : readMargins.clocksMs;
    const finalInMs = lastEnd + marginMs + statusDelayMs - clock.wall();
    if (finalInMs <= 0 && pods.unsettled === 0) return repair.end("settled");
    const nextAt = clock.monotonic() + Math.max(finalInMs, pods.unsettled > 0 ? unsettledMs : 0);
    repair.keep({ ...before, mixed: 0, nextAt });
    return again(0);
  }

  /** Returns the progress of the repair of the spans until `lastEnd`. Containers that started in a later span need a repair of their own. */
  #progressOf(key: string, lastEnd: number): RepairProgress | undefined {
    const known = this.#progress.get(key);
    return known?.lastEnd === lastEnd ? known : undefined;
  }

  #reportedOf(key: string, lastEnd: number): Set<string> {
    const known = this.#reported.get(key);
    if (known?.lastEnd === lastEnd) return known.messages;
    const messages = new Set<string>();
    this.#reported.set(key, { lastEnd, messages });
    return messages;
  }

  /** Drops the spans for which all Pods are right, and then their annotation. */
  #settled(key: string, record: SpanRecord): Result {
    const left = withoutSpansUntil(record, Math.max(...recordedSpans(record).map(endOf)));
    if (this.#records.get(key) !== record) return again(0);
    this.#progress.delete(key);
    this.#reported.delete(key);
    if (left === undefined) this.#records.delete(key);
    else this.#records.set(key, left);
    return again(0);
  }
}

function again(delayMs: number): Result {
  return { type: "requeueAfter", delayMs: Math.max(10, Math.min(delayMs, 600_000)) };
}
