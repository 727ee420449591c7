import type { Random } from "./random.ts";

/** What may go wrong with one request that is no watch. */
export const requestFaults = [
  /** The connection breaks before the server has it. */
  "lost",
  /** The server acts on it, and the connection breaks before the answer is there. */
  "answerLost",
  /** The answer breaks off in the middle. */
  "truncated",
  /** Nothing ever comes back; whether it arrived is open. */
  "hangs",
  /** Seconds on the way. */
  "slow",
  "conflict409",
  "invalid422",
  "busy429",
  "error500",
  /** "etcdserver: request timed out", where the write was stored or not. */
  "etcd500",
  "unavailable503",
  "timeout504",
] as const;

/** What goes wrong in the encore alone: an answer 429 that asks to come back in a day. */
type EncoreFault = "asksForADay";

/** What may go wrong with one watch. */
export const watchFaults = [
  /** Everything comes seconds late. */
  "late",
  /** Breaks after some time. */
  "cut",
  /** The server ends it after some time, as it may. */
  "ended",
  /** Says nothing more, for ever. */
  "silent",
  /** An ERROR event 410 in the middle, or at once. */
  "expired",
  /** The server ends it when a few events wait for its reader. */
  "tooSlow",
  /** It begins with what its reader has seen already. */
  "doubled",
  "noBookmarks",
  /** Its initial objects come slowly, with changes meanwhile. */
  "slowList",
] as const;

/** What may go wrong with a process or its machine. */
export const processFaults = [
  "stopped",
  "suspended",
  "crash",
  "restart",
  "wallJump",
  "forbidden",
  "partition",
] as const;

/** What may go wrong with the API server itself. */
export const serverFaults = ["compaction", "outage", "breakAll"] as const;

/** Something that may go wrong with one request. */
export type RequestFault = (typeof requestFaults)[number] | EncoreFault;
/** Something that may go wrong with one watch. */
export type WatchFault = (typeof watchFaults)[number];
/** Something that may go wrong with a process or its machine. */
export type ProcessFault = (typeof processFaults)[number];
/** Something that may go wrong with the API server itself. */
export type ServerFault = (typeof serverFaults)[number];

/** A time in which much goes wrong. */
export interface Storm {
  readonly from: number;
  readonly to: number;
  /** Whom it hits; undefined: all. */
  readonly replica: string | undefined;
  readonly strength: number;
}

/**
 * What goes wrong when: each seed has a few kinds of faults of its own and some storms in which they happen, so that one
 * fault meets another often but not always the same ones. From `calmAt` on nothing goes wrong.
 */
export class Weather {
  readonly #random: Random;
  readonly storms: readonly Storm[];
  readonly #requests: readonly RequestFault[];
  readonly #watches: readonly WatchFault[];
  readonly processes: readonly ProcessFault[];
  readonly servers: readonly ServerFault[];
  readonly calmAt: number;
  /** Whether the server can send lists as the beginning of a watch, as those since 1.27 can; else they come in pages. */
  readonly offersStreams: boolean;
  /** Milliseconds on the way where nothing is wrong. */
  readonly #latencyMs: number;
  #calm = false;
  /** What goes wrong with patches of workloads in the encore; undefined: nothing. */
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

  /** Everything goes well from now on. */
  clear(): void {
    this.#calm = true;
  }

  get isCalm(): boolean {
    return this.#calm;
  }

  /** What of this is there, for the trace. */
  describe(): string {
    const storms = this.storms.map(({ from, to, replica = "all", strength }) => {
      return `${replica} ${(from / 1000).toFixed(1)}-${(to / 1000).toFixed(1)}s x${strength}`;
    });
    const faults = [...this.#requests, ...this.#watches, ...this.processes, ...this.servers];
    const lists = this.offersStreams ? "" : "lists come in pages; ";
    return `${lists}faults: ${faults.join(" ")}; storms: ${storms.join(", ")}`;
  }

  /** Milliseconds that something needs from one machine to another. */
  latency(): number {
    return this.#latencyMs * (0.5 + this.#random.next());
  }

  /** `patches`: whether it is the patch of a workload. */
  requestFault(replica: string, now: number, patches: boolean): RequestFault | undefined {
    if (this.encore !== undefined && patches) return this.encore === "asksForADay" ? "asksForADay" : "answerLost";
    if (this.#requests.length === 0 || !this.#random.chance(this.#strength(replica, now) / 2)) return undefined;
    return this.#random.pick(this.#requests);
  }

  /** Several may hit one watch. */
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
