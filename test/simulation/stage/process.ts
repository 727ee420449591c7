import type { Clock } from "../../../src/lib/clock.ts";
import type { Scheduler } from "./scheduler.ts";

/** How a process stands still: its time goes on (SIGSTOP), or stands still with it (the machine is suspended). */
export type Pause = "stopped" | "suspended";

/**
 * One process of Wave as its machine sees it: clocks that drift and jump, and a way in for everything from outside, which
 * waits while the process stands still and is lost once it is dead.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly #scheduler: Scheduler;
  /** How fast its monotonic clock goes. */
  readonly #rate: number;
  readonly #bornAt: number;
  #state: "running" | Pause = "running";
  #dead = false;
  #pausedAt = 0;
  /** For how long its monotonic clock stood still. */
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

  /** When it stood still, in true time. */
  get pauses(): readonly (readonly [number, number])[] {
    return this.#pauses;
  }

  /** How far its wall clock was off at most until now, in milliseconds. */
  get wallOffMs(): number {
    if (this.#state === "suspended") return this.#wallOffMs;
    const off = Math.abs(this.clock.wall() - this.#epoch - this.#scheduler.now);
    this.#wallOffMs = Math.max(this.#wallOffMs, off);
    return this.#wallOffMs;
  }

  /** Brings something in from outside. */
  enter(event: () => void): void {
    if (this.#dead) return;
    if (this.#state === "running") event();
    else this.#inbox.push(event);
  }

  /** Moves its wall clock alone. */
  jumpWall(ms: number): void {
    void this.wallOffMs;
    this.#wallOffset += ms;
    void this.wallOffMs;
  }

  /** Stands still from now on. */
  pause(pause: Pause): void {
    if (this.#state !== "running") return;
    this.#state = pause;
    this.#pausedAt = this.#scheduler.now;
  }

  /** Goes on. What fell due and what arrived meanwhile comes now, timers or network first. */
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
    // Each in a turn of its own, and none if it stands still again before.
    for (const event of late) this.#scheduler.after(0, () => (this.#dead ? event() : this.enter(event)));
  }

  /** Nothing reaches it any more. Its timers go on, so that all that waits in it comes to an end. */
  kill(): void {
    this.resume(true);
    this.#dead = true;
  }

  #local(): number {
    const now = this.#state === "suspended" ? this.#pausedAt : this.#scheduler.now;
    return (now - this.#bornAt - this.#suspendedMs) * this.#rate;
  }

  /** Like setTimeout, which has no shorter time than a millisecond. */
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
