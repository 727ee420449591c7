// The controller of held states: notes on a workload, in annotations, that its rollout has been held or halted for a while, so that GitOps
// tools can show it, and that its rollout has passed, for the next leader. It decides nothing.
import type { Caches } from "../../cache/caches.ts";
import { namespaceOf, type Workload } from "../../domain/model/workload.ts";
import { type JsonPatch, previousPinsPatch } from "../../domain/patch/workload-patch.ts";
import { policyFor } from "../../domain/policy/cluster-policy.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import { stateAnnotation } from "../../domain/references/annotations.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { done, type Result } from "../../runtime/result.ts";
import { Workers } from "../../runtime/workers.ts";
import type { ControllerPermits, WritePermits } from "../../runtime/write-permits.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import {
  createRunObserver,
  type EndedRun,
  type RunObserver,
  type RunObserverOptions,
} from "../observers/run-observer.ts";
import { patchAnnotations, writeAnnotation } from "../observers/write-annotation.ts";
import { type HeldState, heldStateOf } from "./held-state.ts";

/** What {@link createHeldStates} needs. */
export interface HeldStatesOptions extends RunObserverOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<Caches, "workload">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/** Returns the controller, which notes held states while Wave leads; undefined if Wave writes nothing. */
export function createHeldStates(options: HeldStatesOptions): RunObserver | undefined {
  return createRunObserver(options, (leadership, permits) => new Notes({ ...options, permits, leadership }));
}

/** A shorter hold is not noted, in milliseconds: each note is a write. */
const noteAfterMs = 30_000;
/** Minimum time between two writes to one workload: the cache may be behind, or another client changes the annotation. */
const againMs = 30_000;
const writesAtOnce = 4;
const backoff = { baseMs: 1_000, retryMaxMs: 300_000 };

/** The held state of a workload and its times, in monotonic milliseconds. */
interface Note {
  readonly state: HeldState | undefined;
  readonly since: number;
  writtenAt?: number;
}

/** The held states of one leadership. */
class Notes {
  readonly #options: HeldStatesOptions & { readonly leadership: Leadership };
  readonly #workers: Workers;
  readonly #permits: ControllerPermits;
  readonly #notes = new Map<string, Note>();
  /** The patches of workloads whose rollout has passed. */
  readonly #passed = new Map<string, JsonPatch>();

  constructor(options: HeldStatesOptions & { readonly leadership: Leadership; readonly permits: WritePermits }) {
    const { clock, random } = options;
    this.#options = options;
    this.#permits = options.permits.of("housekeeping", { flowOf: namespaceOf });
    this.#workers = new Workers({
      clock,
      random,
      workers: writesAtOnce,
      flowOf: namespaceOf,
      backoff,
      urgencyOf: () => "low",
      reconcile: (key) => this.#run(key),
    });
  }

  observe(key: string, { plan, workload }: EndedRun): void {
    if (plan !== "rolled" && "previousPins" in plan) {
      this.#passed.set(key, previousPinsPatch(workload, plan.previousPins));
      this.#workers.add(key, { urgency: "low" });
    } else this.#passed.delete(key);
    const state = heldStateOf(plan);
    const before = this.#notes.get(key);
    // The cached workload is of the time before the rollout.
    const isNoted = workload.state !== undefined;
    if (state === undefined && before === undefined && !isNoted) return;
    if (before === undefined || before.state !== state) {
      const writtenAt = before?.writtenAt;
      const now = this.#options.clock.monotonic();
      this.#notes.set(key, { state, since: now, ...(writtenAt !== undefined && { writtenAt }) });
    }
    this.#workers.add(key, { urgency: "low" });
  }

  forget(key: string): void {
    this.#notes.delete(key);
    this.#passed.delete(key);
  }

  async run(): Promise<void> {
    const { stop, abort } = this.#options.leadership;
    await this.#workers.run(AbortSignal.any([stop, abort]));
  }

  async #run(key: string): Promise<Result> {
    const { caches, policy, log } = this.#options;
    const workload = caches.workload(key);
    if (workload === undefined || workload.deleting) return done;
    if (rolloutPolicyOf(workload, policyFor(workload, policy)).mode.value === "observe") return done;
    try {
      const passed = this.#passed.get(key);
      if (passed !== undefined) {
        if (!(await this.#permits.wait(key))) return done;
        this.#passed.delete(key);
        await patchAnnotations(workload, passed, this.#options);
      }
      return await this.#noteState(key, workload);
    } catch (error) {
      if (!this.#options.leadership.valid() || this.#options.leadership.abort.aborted) return done;
      if (apiFailureOf(error) === undefined) throw error;
      log.warn(logMessages.stateNotWritten, { workload: key, error: errorText(error) });
      return { type: "retry", atLeastMs: retryAfterMs(error) };
    }
  }

  async #noteState(key: string, workload: Workload): Promise<Result> {
    const { clock } = this.#options;
    const note = this.#notes.get(key);
    if (note === undefined) return done;
    if (workload.state === note.state) {
      if (note.state === undefined) this.#notes.delete(key);
      return done;
    }
    const now = clock.monotonic();
    const at = Math.max(
      note.state === undefined ? 0 : note.since + noteAfterMs,
      (note.writtenAt ?? Number.NEGATIVE_INFINITY) + againMs,
    );
    if (at > now) return { type: "requeueAfter", delayMs: at - now };
    if (!(await this.#permits.wait(key))) return done;
    await this.#write(workload, note);
    return { type: "requeueAfter", delayMs: againMs };
  }

  async #write(workload: Workload, note: Note): Promise<void> {
    note.writtenAt = this.#options.clock.monotonic();
    await writeAnnotation(workload, stateAnnotation, note.state, this.#options);
  }
}
