import type { DirectiveContext } from "../../domain/compatibility/directives.ts";
import { matchesObject } from "../../domain/model/cached-workload.ts";
import {
  isDeleting,
  toWorkloadIfValid,
  type Workload,
  type WorkloadObject,
  type WorkloadRow,
} from "../../domain/model/workload.ts";
import { isApiFailure, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import type { Clock } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import { WorkQueue } from "../../runtime/work-queue.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { ReadTemplate } from "../store/read-template.ts";
import type { Completer } from "../store/reflector.ts";

type O = KubeObject & WorkloadObject;

/** Which object is meant. */
interface Name {
  readonly namespace: string;
  readonly name: string;
}

interface Wanted {
  /** How often it was heard of. */
  heard: number;
  /** How often it could not be read. */
  failures: number;
}

/** What {@link LentTemplates} works with. */
export interface BorrowedTemplatesOptions {
  readonly read: ReadTemplate;
  readonly asking: DirectiveContext;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/** How many are read at once, and of one namespace: a tenant's that take long leave some for the others. */
const atOnce = 8;
const mostOfNamespace = 2;
/** So one that its owner keeps changing is read four times a second. */
const delayMs = 250;
const retries = { baseMs: 500, maxMs: 30_000 };

/**
 * Lets a cache hold workloads together with the pod templates that they borrow. The template of a workload that asks
 * for rolls is read when the workload comes, and again when its controller says that the template has changed. Until it
 * is read the cache holds what it held.
 *
 * The watch does not wait for these reads. Only the name of a workload waits for one, because many large objects may.
 */
export class BorrowedTemplates implements Completer<O, Workload> {
  readonly #row: WorkloadRow;
  readonly #options: BorrowedTemplatesOptions;
  readonly #queue: WorkQueue;
  /** Those that are to be read. A read of one that was forgotten meanwhile is void. */
  readonly #wanted = new Map<string, Wanted>();
  /** Namespaces in which the last read failed: how often in a row, and until when none is tried. */
  readonly #failing = new Map<string, { readonly failures: number; readonly until: number }>();

  constructor(row: WorkloadRow, options: BorrowedTemplatesOptions) {
    this.#row = row;
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      flowOf: (key) => parse(key).namespace,
      mostOfFlow: mostOfNamespace,
    });
  }

  enqueue(object: O, held: Workload | undefined): boolean {
    const { asking } = this.#options;
    const { namespace = "", name } = object.metadata;
    const key = `${namespace}/${name}`;
    if (!this.#isToBeRead(object, held, asking)) {
      this.#wanted.delete(key);
      return false;
    }
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) this.#wanted.set(key, { heard: 1, failures: 0 });
    else wanted.heard++;
    this.#queue.add(key, { delayMs });
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
    const close = () => this.#queue.close();
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) close();
    await Promise.all(Array.from({ length: atOnce }, () => this.#work(put, signal)));
  }

  #isToBeRead(object: O, held: Workload | undefined, asking: DirectiveContext): boolean {
    if (this.#row.workloadRef?.templateSourceOf(object) === undefined) return false;
    // Nobody decides by what it reads any more, and its finalizer goes whether that can be read or not.
    if (isDeleting(object.metadata)) return false;
    if (held !== undefined && matchesObject(held, object, asking)) return false;
    return toWorkloadIfValid(this.#row, object, asking)?.optIn.state === "in";
  }

  async #work(put: (whole: O) => void, signal: AbortSignal): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      const againMs = await this.#read(key, put, signal);
      if (againMs !== undefined) this.#queue.add(key, { delayMs: againMs });
      this.#queue.done(key);
    }
  }

  /** In how many milliseconds it is to be tried again; undefined: not. */
  async #read(key: string, put: (whole: O) => void, signal: AbortSignal): Promise<number | undefined> {
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) return undefined;
    const name = parse(key);
    const restMs = (this.#failing.get(name.namespace)?.until ?? 0) - this.#options.clock.monotonic();
    if (restMs > 0) return restMs;
    const { heard } = wanted;
    try {
      const whole = await this.#options.read(this.#row, name, signal);
      this.#failing.delete(name.namespace);
      if (this.#wanted.get(key) !== wanted || signal.aborted) return undefined;
      wanted.failures = 0;
      // Else it is read again, as it is in the queue again.
      if (wanted.heard === heard) this.#wanted.delete(key);
      if (whole !== undefined) put(whole);
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isApiFailure(error)) throw error;
      return this.#failed(name, wanted, error);
    }
  }

  /** While one cannot be read the others of its namespace wait: each of thousands would fail as well. */
  #failed({ namespace, name }: Name, wanted: Wanted, error: unknown): number {
    const { clock, log, random } = this.#options;
    const failures = this.#failing.get(namespace)?.failures ?? 0;
    const isNews = failures === 0 && wanted.failures === 0;
    const fields = { kind: this.#row.id, namespace, name, error: errorText(error) };
    log[isNews ? "warn" : "debug"]("cannot read the pod template that a workload borrows; trying again", fields);
    const pauseMs = (count: number) => Math.max(retryAfterMs(error), backoffMs(count, { ...retries, random }));
    const againMs = pauseMs(Math.max(failures, wanted.failures));
    this.#failing.set(namespace, { failures: failures + 1, until: clock.monotonic() + pauseMs(failures) });
    wanted.failures++;
    return againMs;
  }
}

function parse(key: string): Name {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
