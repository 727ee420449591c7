import type { DirectiveContext } from "../../domain/compatibility/directives.ts";
import { matchesObject } from "../../domain/model/cached-workload.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { isDeleting, toWorkloadIfValid } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { isApiFailure, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import { backoffMs } from "../../runtime/timers.ts";
import { done, type Result, Workers } from "../../runtime/workers.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { ReadTemplate } from "../store/kind-cache.ts";
import type { Completer } from "../store/reflector.ts";

type O = KubeObject & WorkloadObject;

interface BorrowedTemplatesOptions extends Pick<ProcessContext, "clock" | "log" | "random"> {
  readonly read: ReadTemplate;
  readonly directiveContext: DirectiveContext;
}

/** Maximum number of concurrent reads, in total and for one namespace: slow reads of a tenant leave some for the others. */
const atOnce = 8;
const mostOfNamespace = 2;
/** Delay of a read: a template that keeps changing is read four times a second. */
const delayMs = 250;
const baseMs = 500;
const maxMs = 30_000;

/**
 * Completes workloads with the pod template of their template source, for a cache. The template of a workload that has opted in
 * is read when the workload arrives, and again when its controller reports another template. Until then the cache keeps the
 * held value.
 *
 * The watch does not wait for these reads. Only the name of a workload is queued, because many large objects may wait.
 */
export class BorrowedTemplates implements Completer<O, Workload> {
  readonly #row: WorkloadRow;
  readonly #options: BorrowedTemplatesOptions;
  readonly #workers: Workers;
  /** Receiver of completed objects, and the end of the reads. Set by `run`. */
  #target: { readonly put: (whole: O) => void; readonly signal: AbortSignal } | undefined;
  /** Workloads whose template must be read, with the number of their events. The result of a read is discarded if its workload was removed meanwhile. */
  readonly #wanted = new Map<string, { events: number }>();
  /** Namespaces whose last read failed: the number of failures in a row, and the end of the pause. */
  readonly #failing = new Map<string, { readonly failures: number; readonly until: number }>();

  constructor(row: WorkloadRow, options: BorrowedTemplatesOptions) {
    this.#row = row;
    this.#options = options;
    this.#workers = new Workers({
      clock: options.clock,
      random: options.random,
      workers: atOnce,
      flowOf: (key) => parse(key).namespace,
      workersPerFlow: mostOfNamespace,
      backoff: { baseMs, retryMaxMs: maxMs },
      reconcile: (key, failures) => this.#read(key, failures),
    });
  }

  enqueue(object: O, held: Workload | undefined): boolean {
    const { directiveContext } = this.#options;
    const { namespace = "", name } = object.metadata;
    const key = `${namespace}/${name}`;
    if (!this.#isToBeRead(object, held, directiveContext)) {
      this.#wanted.delete(key);
      return false;
    }
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) this.#wanted.set(key, { events: 1 });
    else wanted.events++;
    this.#workers.add(key, { delayMs });
    return true;
  }

  forget(namespace: string, name: string): void {
    this.#wanted.delete(`${namespace}/${name}`);
  }

  forgetAll(namespace: string): void {
    for (const key of this.#wanted.keys()) {
      if (namespace === "" || parse(key).namespace === namespace) this.#wanted.delete(key);
    }
  }

  async run(put: (whole: O) => void, signal: AbortSignal): Promise<void> {
    this.#target = { put, signal };
    await this.#workers.run(signal);
  }

  #isToBeRead(object: O, held: Workload | undefined, directiveContext: DirectiveContext): boolean {
    if (this.#row.workloadRef?.templateSourceOf(object) === undefined) return false;
    // What a deleted workload reads is irrelevant, and its finalizer is removed in any case.
    if (isDeleting(object.metadata)) return false;
    if (held !== undefined && matchesObject(held, object, directiveContext)) return false;
    return toWorkloadIfValid(this.#row, object, directiveContext)?.optIn.state === "in";
  }

  async #read(key: string, failures: number): Promise<Result> {
    const wanted = this.#wanted.get(key);
    if (wanted === undefined || this.#target === undefined) return done;
    const { put, signal } = this.#target;
    const name = parse(key);
    const pauseMs = (this.#failing.get(name.namespace)?.until ?? 0) - this.#options.clock.monotonic();
    if (pauseMs > 0) return { type: "deferred", delayMs: pauseMs };
    const { events } = wanted;
    try {
      const whole = await this.#options.read(this.#row, name, signal);
      this.#failing.delete(name.namespace);
      if (this.#wanted.get(key) !== wanted || signal.aborted) return done;
      // Otherwise a later event has enqueued the workload again.
      if (wanted.events === events) this.#wanted.delete(key);
      if (whole !== undefined) put(whole);
      return done;
    } catch (error) {
      if (signal.aborted) return done;
      if (!isApiFailure(error)) throw error;
      return this.#failed(name, failures, error);
    }
  }

  /** Pauses the namespace: each of its thousands of reads would fail for the same reason. */
  #failed({ namespace, name }: ReturnType<typeof parse>, failures: number, error: unknown): Result {
    const { clock, log, random } = this.#options;
    const ofNamespace = this.#failing.get(namespace)?.failures ?? 0;
    const level = ofNamespace === 0 && failures === 0 ? "warn" : "debug";
    const fields = { kind: this.#row.id, namespace, name, error: errorText(error) };
    log[level](logMessages.templateUnread, fields);
    const pauseMs = Math.max(retryAfterMs(error), backoffMs(ofNamespace, { baseMs, maxMs, random }));
    this.#failing.set(namespace, { failures: ofNamespace + 1, until: clock.monotonic() + pauseMs });
    return { type: "retry", atLeastMs: pauseMs };
  }
}

function parse(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
