import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../lib/clock.ts";
import {
  type Exchange,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  UnprocessedError,
} from "./transport.ts";

/** Time between two pings. */
const pingIntervalMs = 3_000;
/** A connection is dead if a ping has no response in this time: at most 6 s after the peer disappeared. */
const pingTimeoutMs = 3_000;

/**
 * Flow control windows: the number of bytes that may be sent before they are read, for a stream and for a connection. An
 * API server closes a watch that does not read its events for a tenth of a second. Objects of 20 kB at 300 per second are
 * 600 kB in that time. Measured with 2,000 writes: 6 watches were closed with 256 KiB, although this process was never busy
 * for longer than 40 ms, and one in every fourth run with 1 MiB. Larger windows fill with list pages while this process has
 * too little CPU: 4 MiB per stream takes 8 MiB more memory.
 */
const streamWindowBytes = 2 * 1024 * 1024;
const connectionWindowBytes = 4 * 1024 * 1024;

/** Concurrent requests over one connection, until it ends. */
export interface Http2Connection extends Transport {
  /** Reports whether another request fits, and the server has not announced the end of the connection. */
  readonly hasRoom: () => boolean;
  readonly isEnded: () => boolean;
}

const settingsTimeoutMs = 10_000;

/** Starts HTTP/2 on a connected socket. Rejects if the server sends no settings in 10 s. Pings detect a lost peer within seconds. */
export function connectHttp2(server: URL, socket: TLSSocket, clock: Clock): Promise<Http2Connection> {
  const session = connect(server, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: streamWindowBytes },
  });
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(settingsTimeoutMs, () =>
      session.destroy(new Error(`no response from ${server.host} within ${settingsTimeoutMs / 1000} s`)),
    );
    session.once("remoteSettings", () => {
      session.setLocalWindowSize(connectionWindowBytes);
      keepPinging(session, clock);
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
  const maxStreams = () => Math.max(1, session.remoteSettings?.maxConcurrentStreams ?? 100);
  return {
    send,
    hasRoom: () => usable && !session.closed && !session.destroyed && streams < maxStreams(),
    isEnded: () => session.destroyed,
    close: () => session.destroy(new Error("the connection was closed")),
  };
}

function exchange(session: ClientHttp2Session, request: TransportRequest, onClose: () => void): Exchange {
  const { method, path, headers, body } = request;
  let stream: ClientHttp2Stream;
  try {
    stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
  } catch (error) {
    // The session has just ended and did not begin the request.
    onClose();
    const failure = new UnprocessedError("the connection ended", { cause: error });
    return { response: Promise.reject(failure), cancel: () => {} };
  }
  // Each of these events happens once, and "once" would cost another function and the removal of the listener.
  stream.on("close", onClose);
  if (body !== undefined) stream.end(body);
  const response = new Promise<TransportResponse>((resolve, reject) => {
    const isComplete = () => stream.rstCode === constants.NGHTTP2_NO_ERROR;
    let answered = false;
    stream.on("response", (answer) => {
      answered = true;
      resolve({ status: Number(answer[":status"]), headers: answer, body: stream, isComplete });
    });
    const fail = (error?: Error) => reject(streamError(stream, error));
    stream.on("error", fail);
    // An error costs a stack trace, and most requests get a response.
    stream.on("close", () => {
      if (!answered) fail();
    });
  });
  return { response, cancel: (reason) => void stream.destroy(reason) };
}

/** A stream that the server refused, or did not begin according to GOAWAY, was not executed (RFC 9113, 8.7). */
function streamError(stream: ClientHttp2Stream, error: Error | undefined): Error {
  const message = error?.message ?? "the connection ended before a response arrived";
  return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
    ? new UnprocessedError(message, { cause: error })
    : (error ?? new Error(message));
}

/** Time for running requests on a connection whose end the server has announced. Watches resume on another connection. */
const goawayGraceMs = 30_000;

/** Ends a session after GOAWAY. Node.js does not ping such a session, so a lost peer of a watch would not be detected. */
function endAfterGoaway(session: ClientHttp2Session, clock: Clock): void {
  let cancel = () => {};
  session.on("goaway", () => {
    cancel();
    cancel = clock.timer(goawayGraceMs, () =>
      session.destroy(new Error("the API server requested another connection")),
    );
  });
  session.once("close", () => cancel());
}

function keepPinging(session: ClientHttp2Session, clock: Clock): void {
  let cancel = () => {};
  const wait = () => {
    cancel = clock.timer(pingIntervalMs, beat);
  };
  const beat = () => {
    if (session.destroyed || session.closed) return;
    overwriteStack();
    let answer = false;
    const giveUp = () => {
      const silence = `the API server has not responded to a ping for ${pingTimeoutMs / 1000} s`;
      if (!answer) session.destroy(new Error(silence));
    };
    // After a long pause of this process timers run first: the response may have arrived but not been read.
    cancel = clock.timer(pingTimeoutMs, () => setImmediate(giveUp));
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

/**
 * Overwrites the unused part of the stack, about 128 KiB: Node.js decrypts TLS into a buffer on it, and leaves there what it read. Each
 * call has a frame of at least 90 bytes. V8 would not keep the frames if a call were in tail position.
 */
function overwriteStack(calls = 1500): number {
  return calls === 0 ? 0 : 1 + overwriteStack(calls - 1);
}
