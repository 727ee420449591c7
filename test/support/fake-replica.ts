import type { EventRecorder } from "../../src/kube/events/event-recorder.ts";
import { type Clock, sleep } from "../../src/lib/clock.ts";
import { createLeaderElector, type LeaderElector } from "../../src/manager/leader-election/leader-election.ts";
import {
  defaultLeaseDurationMs,
  type ElectionTimings,
  electionTimings,
} from "../../src/manager/leader-election/lease.ts";
import type { Leadership } from "../../src/runtime/write-permits.ts";
import type { LogFields, Logger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { type FakeLeaseServer, fakeClient, type Network } from "./fake-lease-server.ts";

/** The clocks of one machine, which may be wrong, fast or slow, and of a process that can be stopped. */
export class ProcessClock implements Clock {
  wallOffsetMs = 0;
  readonly #base: Clock;
  readonly #rate: number;
  #stopped = false;
  #overdue: (() => void)[] = [];

  /** `rate` is the number of its seconds in one real second. */
  constructor(base: Clock, rate = 1) {
    this.#base = base;
    this.#rate = rate;
  }

  readonly wall = (): number => Math.round(this.#base.wall() * this.#rate + this.wallOffsetMs);
  readonly monotonic = (): number => this.#base.monotonic() * this.#rate;
  readonly timer = (ms: number, callback: () => void): (() => void) => {
    let cancelled = false;
    const fire = () => {
      if (cancelled) return;
      if (this.#stopped) this.#overdue.push(fire);
      else callback();
    };
    const cancel = this.#base.timer(ms / this.#rate, fire);
    return () => {
      cancelled = true;
      cancel();
    };
  };

  /** SIGSTOP: nothing runs, but time passes. */
  stop(): void {
    this.#stopped = true;
  }

  /** SIGCONT: timers and answers that became due meanwhile run now, late and in any order. */
  resume(newestFirst = false): void {
    this.#stopped = false;
    const overdue = this.#overdue.splice(0);
    for (const fire of newestFirst ? overdue.reverse() : overdue) fire();
  }
}

/** One period of leadership as its work saw it. */
export interface ObservedTerm {
  readonly leadership: Leadership;
  /** Writes that started and neither finished nor were abandoned. */
  inFlight: number;
}

/** A process that takes part in the election. While it leads it writes every half second; each write takes `writeMs`. */
export class FakeReplica {
  readonly clock: ProcessClock;
  readonly network: Network;
  readonly elector: LeaderElector;
  readonly metrics = new MetricsRegistry();
  readonly logged: string[] = [];
  readonly terms: ObservedTerm[] = [];
  writeMs = 5;
  /** What the work of the leader does after it was stopped and its write in flight ended. */
  afterStop: (leadership: Leadership) => Promise<void> = async () => {};
  readonly #shutdown = new AbortController();
  readonly #done: Promise<void>;

  constructor(o: {
    readonly server: FakeLeaseServer;
    readonly base: Clock;
    readonly identity: string;
    readonly rate?: number;
    readonly random?: () => number;
    readonly timings?: ElectionTimings;
    readonly recorder?: EventRecorder;
    readonly onTerm?: (replica: FakeReplica) => void;
  }) {
    const random = o.random ?? (() => 0.5);
    this.clock = new ProcessClock(o.base, o.rate);
    this.network = { delayMs: () => 2, cut: false, delivers: () => random() < 0.5 };
    this.elector = createLeaderElector({
      ...(o.timings ?? electionTimings(defaultLeaseDurationMs)),
      client: fakeClient(o.server, this.clock, this.network),
      clock: this.clock,
      log: this.#logger(),
      metrics: this.metrics,
      namespace: "wave",
      name: "wave",
      identity: o.identity,
      random,
      ...(o.recorder && { recorder: o.recorder }),
    });
    const lead = async (leadership: Leadership) => {
      const term = { leadership, inFlight: 0 };
      this.terms.push(term);
      o.onTerm?.(this);
      await this.#work(term);
      await this.afterStop(leadership);
    };
    this.#done = this.elector.run({ signal: this.#shutdown.signal, lead });
  }

  /** Reports whether the process would write now. */
  get valid(): boolean {
    return this.terms.some((term) => term.leadership.valid());
  }

  get inFlight(): number {
    return this.terms.reduce((sum, term) => sum + term.inFlight, 0);
  }

  /** SIGTERM. Resolves when the process would exit. */
  shutDown(): Promise<void> {
    this.#shutdown.abort();
    return this.#done;
  }

  async #work(term: ObservedTerm): Promise<void> {
    const { stop, abort, valid } = term.leadership;
    const end = AbortSignal.any([stop, abort]);
    while (!end.aborted) {
      if (valid()) {
        term.inFlight++;
        await sleep(this.clock, this.writeMs, abort).catch(() => {});
        term.inFlight--;
      }
      await sleep(this.clock, 500, end).catch(() => {});
    }
  }

  #logger(): Logger {
    const keep =
      (level: string) =>
      (message: string, fields: LogFields = {}) => {
        this.logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
      };
    return { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  }
}
