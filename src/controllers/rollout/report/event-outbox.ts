import { maxMessageBytes, type ObjectEvent, truncateUtf8 } from "../../../kube/events/event-object.ts";
import type { EventRecorder } from "../../../kube/events/event-recorder.ts";
import type { Clock } from "../../../lib/clock.ts";
import { FairQueue } from "../../../runtime/fair-queue.ts";

/** An API server takes an Event in the time of two thirds of a PATCH: while workloads wait, one at a time is enough. */
const sendersBesideWrites = 1;
const sendersAlone = 4;
/** When nothing else is done any more: as many as an API server on two cores gains by. */
const sendersAtTheEnd = 32;

/** How many Events may wait: of 1 KiB each, if somebody makes them as long as they get, this is 4 MiB. */
const mostWaiting = 4_096;

/** Why an Event was not sent: there were too many, or a newer one of the same object and reason says something else. */
export type EventDropReason = "full" | "newer";

/** What an {@link EventOutbox} works with. */
export interface EventOutboxOptions {
  readonly recorder: EventRecorder;
  /** Asked before each Event is sent; those that may not be sent any more are forgotten. */
  readonly mayWrite: () => boolean;
  /** Whether there are workloads still to be written: these go first. */
  readonly writesWait: () => boolean;
  readonly onDropped: (because: EventDropReason) => void;
}

/**
 * Events on their way to the API server, beside the writes that they tell of: a change that rolls a thousand workloads
 * is not to wait for a thousand Events. Of each object and reason one waits, the newest, which counts for those
 * before it; turns go round the namespaces. When there are too many, the namespace that has most loses one.
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

  /** How many Events wait to be sent. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Accepts an Event. The write that it tells of has succeeded. */
  post(posted: ObjectEvent): void {
    const key = keyOf(posted);
    const before = this.#waiting.get(key);
    // Before it waits: people name objects by as many characters as they like.
    const event = withNewsOf(before?.event, { ...posted, message: truncateUtf8(posted.message, maxMessageBytes) });
    if (before !== undefined && before.event.message !== event.message) this.#options.onDropped("newer");
    this.#waiting.set(key, { event, times: (before?.times ?? 0) + 1 });
    // The same one twice at once could not be counted: it is sent after the one that is under way.
    if (!this.#sending.has(key)) this.#queue.add(key, "high");
    if (this.#waiting.size > mostWaiting) this.#dropOne();
    this.#begin();
  }

  /** Resolves once every Event accepted so far has been sent or dropped, as fast as may be: nothing else is to be written. */
  drained(): Promise<void> {
    this.#atTheEnd = true;
    this.#begin();
    if (this.#sending.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** Sends what waits and then forgets the rest, after `ms` milliseconds or where `abort` is aborted before. */
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

  /** As many at once as there may be now. */
  #begin(): void {
    while (this.#sending.size < this.#senders && this.#queue.size > 0) void this.#send();
  }

  /** Sends one Event and sees to the next. */
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

  /** Forgets what waits. */
  close(): void {
    this.#waiting.clear();
    this.#queue.clear();
  }
}

/** An Event stands for the one before it that was not sent: where that is news, so is this. */
function withNewsOf(before: ObjectEvent | undefined, event: ObjectEvent): ObjectEvent {
  if (before === undefined || event.repeats === undefined || before.repeats === "told") return event;
  const { repeats, ...news } = event;
  return before.repeats === undefined ? news : { ...news, repeats: before.repeats };
}

/** By uid: what was told of an object is no news of one that was made anew under its name. */
function keyOf({ regarding: { namespace, kind, name, uid }, reason }: ObjectEvent): string {
  return `${namespace}/${kind}/${name}/${uid}/${reason}`;
}
