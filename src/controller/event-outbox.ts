import type { EventRecorder } from "../kube/event-recorder.ts";

type Event = Parameters<EventRecorder["record"]>[0];

/**
 * Events on their way to the API server, in order, a few at a time beside the writes that they tell of: a change that
 * rolls a thousand workloads is not to wait for a thousand Events.
 */
export class EventOutbox {
  readonly #recorder: EventRecorder;
  readonly #senders: number;
  readonly #mayWrite: () => boolean;
  readonly #waiting: Event[] = [];
  #sending = 0;
  readonly #onDrained: (() => void)[] = [];

  /** `mayWrite` is asked before each Event is sent; those that may not be sent any more are dropped. */
  constructor(recorder: EventRecorder, mayWrite: () => boolean, senders = 4) {
    this.#recorder = recorder;
    this.#mayWrite = mayWrite;
    this.#senders = senders;
  }

  /** Accepts an Event. The write that it tells of has succeeded. */
  post(event: Event): void {
    this.#waiting.push(event);
    if (this.#sending < this.#senders) void this.#send();
  }

  /** Resolves once every Event accepted so far has been sent or dropped. */
  drained(): Promise<void> {
    if (this.#sending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  async #send(): Promise<void> {
    this.#sending++;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift())
      if (this.#mayWrite()) await this.#recorder.record(event);
    this.#sending--;
    if (this.#sending > 0) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }
}
