import { maxMessageBytes, type ObjectEvent, truncateUtf8 } from "../../../kube/events/event-object.ts";
import type { EventRecorder } from "../../../kube/events/event-recorder.ts";
import type { Clock } from "../../../lib/clock.ts";
import { FairQueue } from "../../../runtime/fair-queue.ts";

/** An Event costs the API server two thirds of a PATCH: while workloads wait, one Event at a time is enough. */
const sendersBesideWrites = 1;
const sendersAlone = 4;
/** When no more writes follow: more senders do not make an API server on two cores faster. */
const sendersAtTheEnd = 32;

/** The most waiting Events: 4 MiB, if each has the longest message of 1 KiB. */
const mostWaiting = 4_096;

/** Why an Event was not sent: too many were waiting, or a newer Event of the same object and reason has another message. */
export type EventDropReason = "full" | "newer";

/** What an {@link EventOutbox} needs. */
export interface EventOutboxOptions {
  readonly recorder: EventRecorder;
  /** Checked before each Event is sent. If false, all waiting Events are dropped. */
  readonly mayWrite: () => boolean;
  /** Reports whether workloads wait to be written. They go first. */
  readonly writesWait: () => boolean;
  readonly onDropped: (because: EventDropReason) => void;
}

/**
 * Sends Events in parallel with writes: a change that rolls a thousand workloads does not wait for a thousand Events. For
 * each object and reason only the newest Event waits, with the count of the earlier ones. Namespaces take turns. If too
 * many Events wait, the namespace with the most loses one.
 */
export class EventOutbox {
  readonly #options: EventOutboxOptions;
  readonly #waiting = new Map<string, { readonly event: ObjectEvent; readonly times: number }>();
  readonly #queue = new FairQueue((key) => key.slice(0, key.indexOf("/")));
  readonly #sending = new Set<string>();
  readonly #onDrained: (() => void)[] = [];
  #atTheEnd = false;

  constructor(options: EventOutboxOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Accepts an Event. Its write has already succeeded. */
  post(posted: ObjectEvent): void {
    const key = keyOf(posted);
    const before = this.#waiting.get(key);
    // Cut before it waits: names of objects may be long.
    const event = withNewsOf(before?.event, { ...posted, message: truncateUtf8(posted.message, maxMessageBytes) });
    if (before !== undefined && before.event.message !== event.message) this.#options.onDropped("newer");
    this.#waiting.set(key, { event, times: (before?.times ?? 0) + 1 });
    // The same Event twice at once could not be counted: this one is sent after the running one.
    if (!this.#sending.has(key)) this.#queue.add(key, "high");
    if (this.#waiting.size > mostWaiting) this.#dropOne();
    this.#begin();
  }

  /** Resolves when every accepted Event has been sent or dropped. Uses all senders, because no more writes follow. */
  drained(): Promise<void> {
    this.#atTheEnd = true;
    this.#begin();
    if (this.#sending.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** Sends the waiting Events, and drops the rest after `ms` milliseconds or when `abort` is aborted. */
  async closeWithin(ms: number, clock: Clock, abort: AbortSignal): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const cancel = clock.timer(ms, resolve);
    abort.addEventListener("abort", () => resolve(), { once: true });
    if (!abort.aborted) await Promise.race([this.drained(), over]);
    cancel();
    this.close();
  }

  #dropOne(): void {
    const key = this.#queue.takeFromLongest();
    if (key === undefined) return;
    this.#waiting.delete(key);
    this.#options.onDropped("full");
  }

  get #senders(): number {
    if (this.#atTheEnd) return sendersAtTheEnd;
    return this.#options.writesWait() ? sendersBesideWrites : sendersAlone;
  }

  /** Starts as many senders as are allowed now. */
  #begin(): void {
    while (this.#sending.size < this.#senders && this.#queue.size > 0) void this.#send();
  }

  async #send(): Promise<void> {
    if (!this.#options.mayWrite()) return this.close();
    const key = this.#queue.take() ?? "";
    const next = this.#waiting.get(key);
    if (next === undefined) return;
    this.#waiting.delete(key);
    this.#sending.add(key);
    await this.#options.recorder.record(next.event, next.times);
    this.#sending.delete(key);
    if (this.#waiting.has(key)) this.#queue.add(key, "high");
    this.#begin();
    if (this.#sending.size > 0) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Drops all waiting Events. */
  close(): void {
    this.#waiting.clear();
    this.#queue.clear();
  }
}

/** An Event replaces an earlier one that was not sent: if the earlier Event is news, the new one is news, too. */
function withNewsOf(before: ObjectEvent | undefined, event: ObjectEvent): ObjectEvent {
  if (before === undefined || event.repeats === undefined || before.repeats === "reported") return event;
  const { repeats, ...news } = event;
  return before.repeats === undefined ? news : { ...news, repeats: before.repeats };
}

/** The key has the uid: an object that was recreated under the same name has its own Events. */
function keyOf({ regarding: { namespace, kind, name, uid }, reason }: ObjectEvent): string {
  return `${namespace}/${kind}/${name}/${uid}/${reason}`;
}
