import type { Connections } from "../../../src/kube/http/connections.ts";
import type { Transport } from "../../../src/kube/http/transport.ts";
import { Flow, type NetworkOptions } from "./flow.ts";
import type { Ban } from "./refusals.ts";

/** Replaces TCP and TLS for a process: a connection to the API server in virtual time, with faults. */
export class Network {
  readonly #options: NetworkOptions;
  readonly #flows = new Set<Flow>();
  #connected = false;
  #connecting: Promise<void> | undefined;
  #closed = false;
  #partitioned = false;
  /** The missing permissions of its user. */
  ban: Ban | undefined;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Whether no data passes at all. */
  get passes(): boolean {
    return !this.#partitioned && !this.#options.cluster.down;
  }

  /** The transport of `createApiClient`: one connection for everything, as over HTTP/2. */
  readonly connect = (): Connections => ({
    withRoom: () => {
      if (this.#closed) throw new Error("the client is closed");
      return this.#connected ? this.#transport : undefined;
    },
    connect: () => {
      this.#connecting ??= this.#open().finally(() => {
        this.#connecting = undefined;
      });
      return this.#connecting;
    },
    close: () => {
      this.#closed = true;
      this.break("the connection was closed");
    },
  });

  readonly #transport: Transport = {
    send: (request) => {
      const flow: Flow = new Flow(this.#options, this, request, () => this.#flows.delete(flow));
      this.#flows.add(flow);
      return flow;
    },
    close: () => this.break("the connection was closed"),
  };

  /** Breaks the connection; all its requests fail. */
  break(why: string): void {
    this.#connected = false;
    for (const flow of [...this.#flows]) flow.fail(new Error(why));
  }

  /** From now on no data passes, which pings detect after some seconds. */
  partition(): void {
    const { process, random } = this.#options;
    this.#partitioned = true;
    process.clock.timer(random.between(3_000, 6_000), () => {
      if (this.#partitioned) this.break("the API server has not responded to a ping for 3 s");
    });
  }

  /** Ends a partition. */
  heal(): void {
    this.#partitioned = false;
  }

  /** A storm starts. */
  storm(): void {
    for (const flow of [...this.#flows]) flow.storm();
  }

  /** All faults end. */
  calm(): void {
    this.heal();
    this.ban = undefined;
    for (const flow of [...this.#flows]) flow.calm();
  }

  /** Requests in flight may still arrive; no answer returns. */
  die(): void {
    this.#closed = true;
    this.break("the process is gone");
  }

  #open(): Promise<void> {
    const { scheduler, cluster, weather, process, random } = this.#options;
    const refused = cluster.down && (weather.isCalm || random.chance(0.7));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const connected = () => {
      if (!this.passes) return reject(new Error(refused ? "connect ECONNREFUSED" : "no response within 10 s"));
      this.#connected = true;
      resolve();
    };
    scheduler.after(this.passes || refused ? 3 * weather.latency() : 10_000, () => process.enter(connected));
    return promise;
  }
}
