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
  readonly end: string;
  readonly cancel: () => void;
  state: "unauthenticated" | "idle" | "active";
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
  /** By remote end, in order of arrival. A connection that becomes idle moves to the end. */
  readonly #connections = new Map<string, WebhookConnection>();
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
    if (address === undefined || this.#connections.size >= this.#limits.total) {
      socket.destroy();
      this.#onDropped();
      return;
    }
    const cancel = this.#clock.timer(this.#limits.unauthenticatedMs, () => socket.destroy());
    this.#connections.set(end, { socket, address, end, cancel, state: "unauthenticated" });
    socket.once("close", () => {
      cancel();
      if (this.#connections.get(end)?.socket === socket) this.#connections.delete(end);
    });
  }

  /** Marks a connection that has a request at the secret path. It stays open until {@link idle}. */
  active(socket: Socket): void {
    const connection = this.#connections.get(remoteEnd(socket));
    if (connection === undefined) return;
    connection.cancel();
    connection.state = "active";
  }

  /** Marks a connection whose request is answered. */
  idle(socket: Socket): void {
    const connection = this.#connections.get(remoteEnd(socket));
    if (connection?.state !== "active") return;
    connection.state = "idle";
    this.#connections.delete(connection.end);
    this.#connections.set(connection.end, connection);
  }

  /** Closes all connections without a request. */
  closeIdle(): void {
    for (const { socket, state } of this.#connections.values()) if (state !== "active") socket.destroy();
  }

  #makeRoom(): void {
    const unauthenticated = this.#in("unauthenticated");
    const full = this.#connections.size >= this.#limits.total;
    if (!full && unauthenticated.length < this.#limits.unauthenticated) return;
    const connection = oldestOfMost(unauthenticated) ?? this.#in("idle")[0];
    if (connection === undefined) return;
    this.#connections.delete(connection.end);
    connection.cancel();
    connection.socket.destroy();
    this.#onDropped();
  }

  #in(state: WebhookConnection["state"]): readonly WebhookConnection[] {
    return [...this.#connections.values()].filter((connection) => connection.state === state);
  }
}

/** Returns the oldest connection of the address that has most of them. */
function oldestOfMost(connections: readonly WebhookConnection[]): WebhookConnection | undefined {
  const byAddress = Map.groupBy(connections, ({ address }) => address).values();
  return [...byAddress].toSorted((a, b) => b.length - a.length)[0]?.[0];
}

/** Returns the remote end, which is the same for a TCP socket and the TLS socket on top of it. */
function remoteEnd({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
