import { expired } from "../../../sandbox/objects/status-error.ts";
import type { LineSink } from "../../../sandbox/requests/api-call.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { WatchFault, Weather } from "./weather.ts";

/** The receiver of the bytes of a watch. */
export interface WatchReader {
  readonly chunk: (bytes: Buffer) => void;
  /** The server ended the watch in good order. */
  readonly end: () => void;
  /** The connection broke. */
  readonly fail: (error: Error) => void;
}

/** The endpoints of the line of a watch. */
export interface WatchLineOptions {
  readonly scheduler: Scheduler;
  readonly weather: Weather;
  readonly random: Random;
  readonly process: SimulatedProcess;
  readonly reader: WatchReader;
  /** The process has received the whole list with which the watch began. */
  readonly onListed: () => void;
}

/** The maximum delay of a line: what was sent in the storm arrives soon after it. */
const latestMs = 20_000;
/** During a script, a watch sends no bookmark sooner after its last line. A real API server sends one each minute. */
const rareMs = 50_000;
/** In the bookmark after the list with which a watch begins. */
const listEnd = "initial-events-end";

/**
 * One watch from the server to a process: its lines arrive in order, each after its latency, with the faults of the watch.
 * Call {@link WatchLine.close} when its reader is gone.
 */
export class WatchLine implements LineSink {
  readonly #options: WatchLineOptions;
  readonly #queue: { readonly at: number; readonly text: string | undefined }[] = [];
  readonly #faults = new Set<WatchFault>();
  /** How much later than usual lines arrive. */
  #lateMs = 0;
  /** The number of waiting lines after which the server closes the watch. */
  #backlog = 1_000;
  #lastAt = 0;
  #listing = true;
  #scheduled = false;
  #over = false;
  #silent = false;
  /** Ends the stream of the server. */
  stop: () => void = () => {};

  constructor(options: WatchLineOptions) {
    this.#options = options;
  }

  /** Adds this fault from now on. */
  afflict(faults: ReadonlySet<WatchFault>): void {
    const { random, scheduler, weather, process } = this.#options;
    for (const fault of faults) this.#faults.add(fault);
    if (faults.has("late")) {
      this.#lateMs = random.pick([200, 1_000, 3_000, 8_000, latestMs]);
      process.deafAt ??= scheduler.now;
    }
    if (faults.has("tooSlow")) this.#backlog = random.whole(1, 6);
    const later = (run: () => void) => {
      scheduler.after(random.exponential(8_000), () => this.#over || weather.isCalm || run());
    };
    if (faults.has("cut")) later(() => this.#fail(new Error("the connection was reset")));
    if (faults.has("ended")) later(() => this.end());
    if (faults.has("expired")) later(() => this.#expire());
    if (!faults.has("silent")) return;
    later(() => {
      this.#silent = true;
      process.deafAt ??= scheduler.now;
    });
  }

  /** Reports whether its reader waits for data that never arrives. */
  get isSilent(): boolean {
    return this.#silent;
  }

  send(line: string): void {
    const { scheduler, weather, random } = this.#options;
    if (this.#over) return;
    const bookmark = line.startsWith('{"type":"BOOKMARK"');
    if (bookmark && !line.includes(listEnd)) {
      const isNeedless = weather.isScripted && scheduler.now - this.#lastAt < rareMs;
      if (isNeedless || this.#faults.has("noBookmarks")) return;
    }
    if (bookmark) this.#listing = false;
    const slow = this.#listing && this.#faults.has("slowList") && !weather.isCalm;
    const slowly = slow ? Math.min(random.exponential(300), Math.max(0, scheduler.now + latestMs - this.#lastAt)) : 0;
    const late = weather.isCalm ? 0 : this.#lateMs;
    this.#lastAt = Math.max(this.#lastAt + slowly, scheduler.now + weather.latency() + late);
    this.#queue.push({ at: this.#lastAt, text: `${line}\n` });
    if (this.#queue.length > this.#backlog && !weather.isCalm) this.end();
    this.#schedule();
  }

  /** Data in flight still arrives. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.stop();
    this.#queue.push({ at: Math.max(this.#lastAt, this.#options.scheduler.now), text: undefined });
    this.#schedule();
  }

  /** The reader is gone. */
  close(): void {
    this.#over = true;
    this.#silent = true;
    this.#queue.length = 0;
    this.stop();
  }

  #expire(): void {
    this.send(JSON.stringify({ type: "ERROR", object: expired("too old resource version").body() }));
    this.end();
  }

  #fail(error: Error): void {
    this.close();
    this.#options.process.enter(() => this.#options.reader.fail(error));
  }

  #schedule(): void {
    const head = this.#queue[0];
    if (head === undefined || this.#scheduled || this.#silent) return;
    this.#scheduled = true;
    const { scheduler, process } = this.#options;
    scheduler.after(head.at - scheduler.now, () =>
      process.enter(() => {
        this.#scheduled = false;
        this.#deliver();
        this.#schedule();
      }),
    );
  }

  /** Delivers everything that has arrived by now in one chunk, or in two chunks that may split a line anywhere. */
  #deliver(): void {
    const { scheduler, reader, random, onListed } = this.#options;
    if (this.#silent) return;
    const texts: string[] = [];
    let ended = false;
    while (this.#queue[0] !== undefined && this.#queue[0].at <= scheduler.now) {
      const { text } = this.#queue.shift() ?? {};
      if (text === undefined) ended = true;
      else texts.push(text);
    }
    if (texts.length > 0) {
      const bytes = Buffer.from(texts.join(""));
      const cut = random.chance(0.1) ? random.whole(0, bytes.length) : 0;
      if (cut > 0) reader.chunk(bytes.subarray(0, cut));
      if (cut < bytes.length) reader.chunk(bytes.subarray(cut));
    }
    if (texts.some((text) => text.includes(listEnd))) onListed();
    if (ended) reader.end();
  }
}
