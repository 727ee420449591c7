import type { EventRecorder } from "../kube/event-recorder.ts";

type Event = Parameters<EventRecorder["record"]>[0];

/** An API server takes an Event in the time of two thirds of a PATCH: while workloads wait, one at a time is enough. */
const sendersBesideWrites = 1;
const sendersAlone = 4;

/**
 * Events on their way to the API server, in order, beside the writes that they tell of: a change that rolls a thousand
 * workloads is not to wait for a thousand Events.
 */
export class EventOutbox {
  readonly #recorder: EventRecorder;
  readonly #mayWrite: () => boolean;
  readonly #writesWait: () => boolean;
  readonly #waiting: Event[] = [];
  #sending = 0;
  readonly #onDrained: (() => void)[] = [];

  /**
   * `mayWrite` is asked before each Event is sent; those that may not be sent any more are dropped. `writesWait` tells
   * whether there are workloads still to be written: these go first.
   */
  constructor(recorder: EventRecorder, mayWrite: () => boolean, writesWait: () => boolean) {
    this.#recorder = recorder;
    this.#mayWrite = mayWrite;
    this.#writesWait = writesWait;
  }

  /** Accepts an Event. The write that it tells of has succeeded. */
  post(event: Event): void {
    this.#waiting.push(event);
    this.#begin();
  }

  /** Resolves once every Event accepted so far has been sent or dropped. */
  drained(): Promise<void> {
    if (this.#sending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** As many at once as there may be now. */
  #begin(): void {
    const senders = this.#writesWait() ? sendersBesideWrites : sendersAlone;
    while (this.#sending < senders && this.#waiting.length > 0) void this.#send();
  }

  /** Sends one Event and sees to the next. */
  async #send(): Promise<void> {
    if (!this.#mayWrite()) this.#waiting.length = 0;
    const event = this.#waiting.shift();
    if (event === undefined) return;
    this.#sending++;
    await this.#recorder.record(event);
    this.#sending--;
    this.#begin();
    if (this.#sending > 0) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }
}
