import type { Clock } from "../../../src/lib/clock.ts";
import type { Scheduler } from "./scheduler.ts";

/** How a process is stopped: time continues for it (SIGSTOP), or stops with it (the machine is suspended). */
export type Pause = "stopped" | "suspended";

/**
 * One process of Wave as its machine sees it. Its clocks drift and jump. Everything from outside passes through one entry,
 * waits while the process is stopped, and is lost after the process is dead.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  /** When a watch of it became silent or late first; undefined: none did. */
  deafAt: number | undefined;
  /** See `Life`. */
  readonly listedAt = new Map<string, number>();
  readonly #scheduler: Scheduler;
  /** The rate of its monotonic clock. */
  readonly #rate: number;
  readonly #bornAt: number;
  #state: "running" | Pause = "running";
  #dead = false;
  #pausedAt = 0;
  /** The total time during which its monotonic clock was stopped. */
  #suspendedMs = 0;
  #wallOffset: number;
  readonly #epoch: number;
  #wallOffMs: number;
  readonly #pauses: [number, number][] = [];
  #timers: (() => void)[] = [];
  #inbox: (() => void)[] = [];

  constructor(
    scheduler: Scheduler,
    options: { readonly name: string; readonly rate: number; readonly wallMs: number; readonly epoch: number },
  ) {
    this.name = options.name;
    this.#scheduler = scheduler;
    this.#rate = options.rate;
    this.#bornAt = scheduler.now;
    this.#wallOffset = options.wallMs;
    this.#wallOffMs = Math.abs(options.wallMs);
    this.#epoch = options.epoch;
    this.clock = {
      wall: () => this.#epoch + this.#bornAt + this.#local() + this.#wallOffset,
      monotonic: () => this.#local(),
      timer: (ms, callback) => this.#timer(ms, callback),
    };
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** When it was stopped, in true time. */
  get pauses(): readonly (readonly [number, number])[] {
    return this.#pauses;
  }

  /** The maximum offset of its wall clock until now, in milliseconds. */
  get wallOffMs(): number {
    if (this.#state === "suspended") return this.#wallOffMs;
    const off = Math.abs(this.clock.wall() - this.#epoch - this.#scheduler.now);
    this.#wallOffMs = Math.max(this.#wallOffMs, off);
    return this.#wallOffMs;
  }

  /** Delivers something from outside. */
  enter(event: () => void): void {
    if (this.#dead) return;
    if (this.#state === "running") event();
    else this.#inbox.push(event);
  }

  /** Moves only its wall clock. */
  jumpWall(ms: number): void {
    void this.wallOffMs;
    this.#wallOffset += ms;
    void this.wallOffMs;
  }

  /** Stops the process from now on. */
  pause(pause: Pause): void {
    if (this.#state !== "running") return;
    this.#state = pause;
    this.#pausedAt = this.#scheduler.now;
  }

  /** Continues the process. Due timers and arrived data are processed now, timers or network first. */
  resume(timersFirst: boolean): void {
    if (this.#state === "running") return;
    const ms = this.#scheduler.now - this.#pausedAt;
    this.#pauses.push([this.#pausedAt, this.#scheduler.now]);
    if (this.#state === "suspended") {
      this.#suspendedMs += ms;
      this.#wallOffset += ms;
    }
    this.#state = "running";
    const [timers, inbox] = [this.#timers, this.#inbox];
    this.#timers = [];
    this.#inbox = [];
    const late = timersFirst ? [...timers, ...inbox] : [...inbox, ...timers];
    // Each is handled in its own turn of the event loop, and none if the process is stopped again before.
    for (const event of late) this.#scheduler.after(0, () => (this.#dead ? event() : this.enter(event)));
  }

  /** Delivers nothing more to the process. Its timers continue, so that everything that waits in it ends. */
  kill(): void {
    this.resume(true);
    this.#dead = true;
  }

  #local(): number {
    const now = this.#state === "suspended" ? this.#pausedAt : this.#scheduler.now;
    return (now - this.#bornAt - this.#suspendedMs) * this.#rate;
  }

  /** Works like setTimeout, whose minimum is one millisecond. */
  #timer(ms: number, callback: () => void): () => void {
    const due = this.#local() + Math.max(1, ms);
    let cancelled = false;
    const ring = () => {
      if (cancelled) return;
      if (this.#state !== "running") {
        this.#timers.push(ring);
        return;
      }
      const left = due - this.#local();
      if (left > 1e-6) this.#scheduler.after(left / this.#rate, ring);
      else callback();
    };
    const cancel = this.#scheduler.after((due - this.#local()) / this.#rate, ring);
    return () => {
      cancelled = true;
      cancel();
    };
  }
}
