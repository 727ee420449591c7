import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connect, constants } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../lib/clock.ts";
import {
  type Exchange,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  UnprocessedError,
} from "./transport.ts";

/** When a connection counts as dead: no answer to a ping, sent each `intervalMs`, within `timeoutMs`. */
export interface PingSettings {
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/**
 * What may be under way and not read yet: a stream's share, and that of a whole connection. An API server closes a watch
 * that does not take its events for a tenth of a second. Objects of 20 kB at 300 a second are 600 kB then, and 256 KiB
 * were too little: 6 watches were closed during 2,000 writes, although this process was never busy for longer than 40 ms;
 * with 1 MiB one was in every fourth run. Larger ones fill with pages of a list while this process has too little CPU:
 * 8 MiB more for 4 MiB a stream.
 */
const streamWindowBytes = 2 * 1024 * 1024;
const connectionWindowBytes = 4 * 1024 * 1024;

/** Requests over one connection, all at once, until it ends; see {@link isUsable}. */
export interface Http2Connection extends Transport {
  /** Whether another request fits: long-lived ones leave a quarter of the streams that the server allows to others. */
  readonly hasRoom: (longLived: boolean) => boolean;
  /** False from the moment that the server says that it ends the connection. */
  readonly isUsable: () => boolean;
  /** Whether nothing is under way on it any more, nor ever will be. */
  readonly isEnded: () => boolean;
}

const settingsTimeoutMs = 10_000;

/**
 * HTTP/2 over a connected socket, from when the server has told its limits; rejects where it does not within 10 s.
 * A peer that is gone without a word is then noticed by pings, in seconds.
 */
export function connectHttp2(
  server: URL,
  socket: TLSSocket,
  { clock, ping }: { readonly clock: Clock; readonly ping: PingSettings },
): Promise<Http2Connection> {
  const session = connect(server, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: streamWindowBytes },
  });
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(settingsTimeoutMs, () =>
      session.destroy(new Error(`no answer from ${server.host} within ${settingsTimeoutMs / 1000} s`)),
    );
    session.once("remoteSettings", () => {
      session.setLocalWindowSize(connectionWindowBytes);
      keepPinging(session, clock, ping);
      endAfterGoaway(session, clock);
      resolve(connectionOf(session));
    });
    session.on("error", reject);
    session.once("close", () => reject(new Error(`${server.host} closed the connection`)));
    session.once("remoteSettings", cancel).once("close", cancel);
  });
}

function connectionOf(session: ClientHttp2Session): Http2Connection {
  let usable = true;
  let streams = 0;
  const retire = () => {
    usable = false;
  };
  session.on("goaway", retire);
  session.on("error", retire);
  session.on("close", retire);

  const send = (request: TransportRequest): Exchange => {
    streams++;
    return exchange(session, request, () => {
      streams--;
    });
  };
  const hasRoom = (longLived: boolean) => {
    const limit = session.remoteSettings?.maxConcurrentStreams ?? 100;
    return streams < Math.max(1, longLived ? Math.floor(limit * 0.75) : limit);
  };
  return {
    send,
    hasRoom,
    isEnded: () => session.destroyed,
    isUsable: () => usable && !session.closed && !session.destroyed,
    close: () => session.destroy(new Error("the connection was closed")),
  };
}

function exchange(session: ClientHttp2Session, request: TransportRequest, onClose: () => void): Exchange {
  const { method, path, headers, body } = request;
  let stream: ClientHttp2Stream;
  try {
    stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
  } catch (error) {
    // The session refused to begin the request: it has just ended.
    onClose();
    const failure = new UnprocessedError("the connection ended", { cause: error });
    return { response: Promise.reject(failure), cancel: () => {} };
  }
  stream.once("close", onClose);
  if (body !== undefined) stream.end(body);
  const response = new Promise<TransportResponse>((resolve, reject) => {
    const isComplete = () => stream.rstCode === constants.NGHTTP2_NO_ERROR;
    let answered = false;
    stream.once("response", (answer) => {
      answered = true;
      resolve({ status: Number(answer[":status"]), headers: answer, body: stream, isComplete });
    });
    const fail = (error?: Error) => reject(failureOf(stream, error));
    stream.on("error", fail);
    // An error costs a stack trace, and most requests are answered.
    stream.once("close", () => {
      if (!answered) fail();
    });
  });
  return { response, cancel: (reason) => void stream.destroy(reason) };
}

/** A stream that the server refused, or that it says in GOAWAY not to have begun, was not acted upon (RFC 9113, 8.7). */
function failureOf(stream: ClientHttp2Stream, error: Error | undefined): Error {
  const message = error?.message ?? "the connection ended before an answer came";
  return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
    ? new UnprocessedError(message, { cause: error })
    : (error ?? new Error(message));
}

/** How long what is under way may take on a connection that the server has said to end; watches resume on another. */
const goawayGraceMs = 30_000;

/** Node.js pings no session that has got GOAWAY: nobody would notice that the peer of a watch on it is gone. */
function endAfterGoaway(session: ClientHttp2Session, clock: Clock): void {
  let cancel = () => {};
  session.on("goaway", () => {
    cancel();
    cancel = clock.timer(goawayGraceMs, () =>
      session.destroy(new Error("the API server asked for another connection")),
    );
  });
  session.once("close", () => cancel());
}

function keepPinging(session: ClientHttp2Session, clock: Clock, { intervalMs, timeoutMs }: PingSettings): void {
  let cancel = () => {};
  const wait = () => {
    cancel = clock.timer(intervalMs, beat);
  };
  const beat = () => {
    if (session.destroyed || session.closed) return;
    let answer = false;
    const giveUp = () => {
      if (!answer) session.destroy(new Error(`the API server has not answered a ping for ${timeoutMs / 1000} s`));
    };
    // After a long pause of this process timers come first: then the answer is there and only has not been read yet.
    cancel = clock.timer(timeoutMs, () => setImmediate(giveUp));
    const answered = () => {
      answer = true;
      cancel();
      if (!session.destroyed) wait();
    };
    session.ping(answered);
  };
  session.once("close", () => cancel());
  wait();
}
