import type { Socket } from "node:net";
import type { Clock } from "../../lib/clock.ts";

/** Limits of connections. */
export interface ConnectionLimits {
  /** Maximum number of all connections. */
  readonly total: number;
  /** Maximum number of connections without a request at the secret path, from the first packet on. */
  readonly unauthenticated: number;
  /** Maximum time in milliseconds from the first packet to the first request at the secret path. */
  readonly unauthenticatedMs: number;
}

interface WebhookConnection {
  readonly socket: Socket;
  readonly address: string;
  readonly cancel: () => void;
}

/**
 * The connections to the webhook. No client can block the API server with many or slow connections.
 *
 * A connection is unauthenticated until its first request at the secret path, and must send it before a deadline. When there is
 * no room, Wave closes the oldest unauthenticated connection of the address that has most of them. If there is none, Wave closes
 * the connection that has been idle longest. Wave never closes an active connection; if all are active, it closes the new one.
 */
export class WebhookConnections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  /** By remote end, in order of arrival. */
  readonly #unauthenticated = new Map<string, WebhookConnection>();
  /** By remote end, in the order in which they became idle. */
  readonly #idle = new Map<string, WebhookConnection>();
  readonly #active = new Map<string, WebhookConnection>();
  readonly #onDropped: () => void;

  /** `onDropped` is called for each connection that is closed because there is no room. */
  constructor(limits: ConnectionLimits, clock: Clock, onDropped: () => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onDropped = onDropped;
  }

  /** Registers a new connection, before its TLS handshake. */
  add(socket: Socket): void {
    const address = socket.remoteAddress;
    const end = remoteEnd(socket);
    this.#makeRoom();
    if (address === undefined || this.#size >= this.#limits.total) {
      socket.destroy();
      this.#onDropped();
      return;
    }
    const cancel = this.#clock.timer(this.#limits.unauthenticatedMs, () => socket.destroy());
    this.#unauthenticated.set(end, { socket, address, cancel });
    socket.once("close", () => {
      cancel();
      for (const map of [this.#unauthenticated, this.#idle, this.#active]) {
        if (map.get(end)?.socket === socket) map.delete(end);
      }
    });
  }

  /** Marks a connection that has a request at the secret path. It stays open until {@link idle}. */
  active(socket: Socket): void {
    const end = remoteEnd(socket);
    const connection = this.#unauthenticated.get(end) ?? this.#idle.get(end);
    if (connection === undefined) return;
    connection.cancel();
    this.#unauthenticated.delete(end);
    this.#idle.delete(end);
    this.#active.set(end, connection);
  }

  /** Marks a connection whose request is answered. */
  idle(socket: Socket): void {
    const end = remoteEnd(socket);
    const connection = this.#active.get(end);
    if (connection === undefined) return;
    this.#active.delete(end);
    this.#idle.set(end, connection);
  }

  /** Closes all connections without a request. */
  closeIdle(): void {
    for (const { socket } of [...this.#unauthenticated.values(), ...this.#idle.values()]) socket.destroy();
  }

  get #size(): number {
    return this.#unauthenticated.size + this.#idle.size + this.#active.size;
  }

  #makeRoom(): void {
    const full = this.#size >= this.#limits.total;
    if (!full && this.#unauthenticated.size < this.#limits.unauthenticated) return;
    const [end, connection] = this.#leastImportant() ?? [];
    if (end === undefined) return;
    this.#unauthenticated.delete(end);
    this.#idle.delete(end);
    connection?.cancel();
    connection?.socket.destroy();
    this.#onDropped();
  }

  #leastImportant(): [string, WebhookConnection] | undefined {
    const counts = new Map<string, number>();
    for (const { address } of this.#unauthenticated.values()) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return (
      this.#unauthenticated.entries().find(([, { address }]) => counts.get(address) === most) ??
      this.#idle.entries().next().value
    );
  }
}

/** Returns the remote end, which is the same for a TCP socket and the TLS socket on top of it. */
function remoteEnd({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
