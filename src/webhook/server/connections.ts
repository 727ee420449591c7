import type { Socket } from "node:net";
import type { Clock } from "../../lib/clock.ts";

/** How many connections there may be, and how long one may be there without having asked anything. */
export interface ConnectionLimits {
  /** Altogether. */
  readonly all: number;
  /** Of strangers, from their first packet on. */
  readonly strangers: number;
  /** Milliseconds from the first packet to the first request at the secret path. */
  readonly strangerMs: number;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Of its deadline. */
  readonly cancel: () => void;
}

/**
 * The connections to the webhook. Nobody keeps the API server out by many or slow connections. Who has not asked at the
 * secret path yet is a stranger, and may stay for a moment only. Where there is no room, the first to go is a stranger:
 * of the address that has most of them, the one that has been there longest. Then go those of the API server that have
 * been idle longest. A connection is never closed while it is asking; where all are, the new one has no room.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  /** By the remote end, in the order in which they came. */
  readonly #strangers = new Map<string, Connection>();
  /** In the order in which they became idle. */
  readonly #idle = new Map<string, Connection>();
  readonly #asking = new Map<string, Connection>();
  readonly #onDropped: () => void;

  /** `onDropped` is told of each that goes for want of room. */
  constructor(limits: ConnectionLimits, clock: Clock, onDropped: () => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onDropped = onDropped;
  }

  /** A connection was made, before its handshake. */
  add(socket: Socket): void {
    const address = socket.remoteAddress;
    const end = endOf(socket);
    this.#makeRoom();
    if (address === undefined || this.#size >= this.#limits.all) {
      socket.destroy();
      this.#onDropped();
      return;
    }
    const cancel = this.#clock.timer(this.#limits.strangerMs, () => socket.destroy());
    this.#strangers.set(end, { socket, address, cancel });
    socket.once("close", () => {
      cancel();
      for (const map of [this.#strangers, this.#idle, this.#asking]) {
        if (map.get(end)?.socket === socket) map.delete(end);
      }
    });
  }

  /** It asks at the secret path: no stranger any more. Until {@link answered} it stays, whatever comes. */
  asking(socket: Socket): void {
    const end = endOf(socket);
    const connection = this.#strangers.get(end) ?? this.#idle.get(end);
    if (connection === undefined) return;
    connection.cancel();
    this.#strangers.delete(end);
    this.#idle.delete(end);
    this.#asking.set(end, connection);
  }

  /** What it asked is answered. */
  answered(socket: Socket): void {
    const end = endOf(socket);
    const connection = this.#asking.get(end);
    if (connection === undefined) return;
    this.#asking.delete(end);
    this.#idle.set(end, connection);
  }

  /** Ends all on which nothing is being asked. */
  endIdle(): void {
    for (const { socket } of [...this.#strangers.values(), ...this.#idle.values()]) socket.destroy();
  }

  get #size(): number {
    return this.#strangers.size + this.#idle.size + this.#asking.size;
  }

  #makeRoom(): void {
    const full = this.#size >= this.#limits.all;
    if (!full && this.#strangers.size < this.#limits.strangers) return;
    const [end, connection] = this.#leastWanted() ?? [];
    if (end === undefined) return;
    this.#strangers.delete(end);
    this.#idle.delete(end);
    connection?.cancel();
    connection?.socket.destroy();
    this.#onDropped();
  }

  #leastWanted(): [string, Connection] | undefined {
    const counts = new Map<string, number>();
    for (const { address } of this.#strangers.values()) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return (
      this.#strangers.entries().find(([, { address }]) => counts.get(address) === most) ??
      this.#idle.entries().next().value
    );
  }
}

/** The remote end names a connection in its layers, the TCP socket and the TLS socket over it. */
function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
