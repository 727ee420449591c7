import type { Random } from "./random.ts";

/** The faults of one request that is not a watch. */
export const requestFaults = [
  /** The connection breaks before the server has the request. */
  "lost",
  /** The server executes the request, and the connection breaks before the answer arrives. */
  "answerLost",
  /** The answer ends in the middle. */
  "truncated",
  /** No answer ever arrives; the request may have arrived. */
  "hangs",
  /** The request takes seconds. */
  "slow",
  "conflict409",
  "invalid422",
  "busy429",
  "error500",
  /** "etcdserver: request timed out", with the write stored or not. */
  "etcd500",
  "unavailable503",
  "timeout504",
] as const;

/** A fault of the encore only: an answer 429 that requests a retry after a day. */
type EncoreFault = "asksForADay";

/** The faults of one watch. */
export const watchFaults = [
  /** Every line arrives seconds late. */
  "late",
  /** The connection breaks after some time. */
  "cut",
  /** The server ends the watch after some time, as it may. */
  "ended",
  /** The watch sends nothing more, forever. */
  "silent",
  /** An ERROR event 410 in the middle, or at once. */
  "expired",
  /** The server ends the watch when a few events wait for its reader. */
  "tooSlow",
  /** The watch starts with events that its reader has already seen. */
  "doubled",
  "noBookmarks",
  /** Its initial objects arrive slowly, with changes in between. */
  "slowList",
] as const;

/** The faults of a process or its machine. */
export const processFaults = [
  "stopped",
  "suspended",
  "crash",
  "restart",
  "wallJump",
  "forbidden",
  "partition",
] as const;

/** The faults of the API server itself. */
export const serverFaults = ["compaction", "outage", "breakAll"] as const;

/** A fault of one request. */
export type RequestFault = (typeof requestFaults)[number] | EncoreFault;
/** A fault of one watch. */
export type WatchFault = (typeof watchFaults)[number];
/** A fault of a process or its machine. */
export type ProcessFault = (typeof processFaults)[number];
/** A fault of the API server itself. */
export type ServerFault = (typeof serverFaults)[number];

/** A period with many faults. */
export interface Storm {
  readonly from: number;
  readonly to: number;
  /** The machine that it affects; undefined: all. */
  readonly replica: string | undefined;
  readonly strength: number;
}

/**
 * Decides when which fault happens. Each seed has a few kinds of faults and some storms in which they happen, so that
 * different combinations of faults meet. From `calmAt` on there are no faults.
 */
export class Weather {
  readonly #random: Random;
  readonly storms: readonly Storm[];
  readonly #requests: readonly RequestFault[];
  readonly #watches: readonly WatchFault[];
  readonly processes: readonly ProcessFault[];
  readonly servers: readonly ServerFault[];
  readonly calmAt: number;
  /** Whether the server can stream lists at the start of a watch, as servers since 1.27 can; otherwise lists are paged. */
  readonly offersStreams: boolean;
  /** The latency in milliseconds without faults. */
  readonly #latencyMs: number;
  #calm = false;
  /** Whether a script is played, which may take hours of virtual time: everything that only repeats is rarer. */
  isScripted = false;
  /** The faults of patches of workloads in the encore; undefined: none. */
  encore: "answersLost" | "asksForADay" | undefined;

  constructor(random: Random, options: { readonly calmAt: number; readonly replicas: readonly string[] }) {
    this.#random = random;
    this.calmAt = options.calmAt;
    const some = <T>(all: readonly T[], share: number) => all.filter(() => random.chance(share));
    const share = random.pick([0, 0.2, 0.4, 0.7]);
    this.#requests = some(requestFaults, share);
    this.#watches = some(watchFaults, random.pick([0.15, 0.3, 0.6]));
    this.processes = some(processFaults, random.pick([0, 0.25, 0.5]));
    this.servers = some(serverFaults, random.pick([0, 0.3, 0.6]));
    this.#latencyMs = random.pick([0.3, 1, 1, 5]);
    this.offersStreams = random.chance(0.75);
    this.storms = Array.from({ length: random.whole(1, 5) }, () => {
      const from = random.between(0, options.calmAt);
      const to = Math.min(options.calmAt, from + random.between(500, 20_000));
      const replica = random.chance(0.4) ? undefined : random.pick(options.replicas);
      return { from, to, replica, strength: random.pick([0.05, 0.2, 0.5, 0.9]) };
    });
  }

  /** Ends all faults from now on. */
  clear(): void {
    this.#calm = true;
  }

  get isCalm(): boolean {
    return this.#calm;
  }

  /** Describes the weather for the trace. */
  describe(): string {
    const storms = this.storms.map(({ from, to, replica = "all", strength }) => {
      return `${replica} ${(from / 1000).toFixed(1)}-${(to / 1000).toFixed(1)}s x${strength}`;
    });
    const faults = [...this.#requests, ...this.#watches, ...this.processes, ...this.servers];
    const lists = this.offersStreams ? "" : "lists come in pages; ";
    return `${lists}faults: ${faults.join(" ")}; storms: ${storms.join(", ")}`;
  }

  /** Returns the milliseconds from one machine to another. */
  latency(): number {
    return this.#latencyMs * (0.5 + this.#random.next());
  }

  /** `patches`: whether the request patches a workload. */
  requestFault(replica: string, now: number, patches: boolean): RequestFault | undefined {
    if (this.encore !== undefined && patches) return this.encore === "asksForADay" ? "asksForADay" : "answerLost";
    if (this.#requests.length === 0 || !this.#random.chance(this.#strength(replica, now) / 2)) return undefined;
    return this.#random.pick(this.#requests);
  }

  /** Returns the faults of a watch, which may be several. */
  watchFaults(replica: string, now: number): ReadonlySet<WatchFault> {
    const strength = this.#strength(replica, now);
    return new Set(this.#watches.filter(() => this.#random.chance(strength)));
  }

  #strength(replica: string, now: number): number {
    if (this.#calm) return 0;
    let strength = 0.01;
    for (const storm of this.storms) {
      if (now < storm.from || now >= storm.to) continue;
      if (storm.replica === undefined || storm.replica === replica) strength = Math.max(strength, storm.strength);
    }
    return strength;
  }
}
