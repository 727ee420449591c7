import { fork } from "node:child_process";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";

/** What a process of its own is to send, so many at once and so many in all. */
export interface Load {
  readonly concurrency: number;
  readonly count: number;
  /** "reviews": each text is a body that is posted. "reads": each text is a list of paths, all of which are read at once. */
  readonly send: "reviews" | "reads";
  /** The senders take them in turn. */
  readonly texts: readonly string[];
  readonly url: string;
  /** What the server's certificate is checked against, PEM. */
  readonly authority: string;
  readonly token: string;
}

/** What was measured of a load. Milliseconds. */
export interface Measured {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

/** A process that sends loads, so that the cost of sending is not in the event loop of another process. */
export interface LoadProcess {
  /** One at a time. Rejects with the first thing that goes wrong. */
  readonly run: (load: Load) => Promise<Measured>;
  readonly stop: () => void;
}

/** Starts one. */
export function startLoadProcess(): LoadProcess {
  const child = fork(import.meta.filename, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const run = async (load: Load) => {
    child.send(load);
    const [answer] = await once(child, "message");
    if (typeof answer === "string") throw new Error(answer);
    return answer as Measured;
  };
  return { run, stop: () => child.kill() };
}

type Send = (text: string) => Promise<unknown>;

/** Keeps so many senders busy until all is sent. Each has its own connection where `connect` makes one. */
async function measure({ concurrency, count, texts }: Load, connect: () => Promise<Send>): Promise<Measured> {
  const senders = await Promise.all(Array.from({ length: concurrency }, connect));
  const milliseconds: number[] = [];
  let begun = 0;
  const begin = performance.now();
  const work = async (send: Send) => {
    for (let index = begun++; index < count; index = begun++) {
      const start = performance.now();
      await send(texts[index % texts.length] ?? "");
      milliseconds.push(performance.now() - start);
    }
  };
  await Promise.all(senders.map(work));
  return measuredOf(milliseconds, begin);
}

/** What came of requests that took so long each, the first of which was sent at `begin`. */
export function measuredOf(milliseconds: readonly number[], begin: number): Measured {
  const perSecond = (milliseconds.length / (performance.now() - begin)) * 1000;
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), perSecond };
}

/**
 * Posts bodies over HTTP/1.1 connections that are kept, as the API server does. Written by hand, because the client of
 * node:https would cost about as much as the answer.
 */
async function measureReviews(load: Load): Promise<Measured> {
  const url = new URL(load.url);
  const sockets: TLSSocket[] = [];
  const connect = async (): Promise<Send> => {
    const socket = connectTls({ host: url.hostname, port: Number(url.port), ca: load.authority });
    sockets.push(socket);
    await once(socket, "secureConnect");
    socket.setNoDelay(true);
    return async (body) => {
      const head = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n`;
      const answer = answerOf(socket);
      socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      const text = await answer;
      if (!text.includes('"patch"')) throw new Error(`a review was not answered with a patch: ${text}`);
    };
  };
  try {
    return await measure(load, connect);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** The next answer on a connection, its head included. */
function answerOf(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const end = () => socket.off("data", read).off("error", reject).off("close", broken);
    const broken = () => reject(new Error("the connection was closed before an answer came"));
    const read = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      if (head === -1) return;
      const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, head))?.[1]);
      if (text.length < head + 4 + length) return;
      end();
      resolve(text);
    };
    socket.on("data", read).once("error", reject).once("close", broken);
  });
}

/** GETs over one HTTP/2 connection with the least code: the cost of the reads of a review for any client. */
async function measureReads(load: Load): Promise<Measured> {
  const session = connectHttp2(load.url, { ca: load.authority });
  await once(session, "connect");
  const get = (path: string) =>
    new Promise<void>((resolve, reject) => {
      const stream = session.request({
        ":path": path,
        authorization: `Bearer ${load.token}`,
        accept: "application/json",
      });
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.once("response", ({ ":status": status }) => {
        if (status !== 200) reject(new Error(`GET ${path}: ${status}`));
      });
      stream.once("error", reject);
      stream.once("end", () => {
        JSON.parse(Buffer.concat(chunks).toString());
        resolve();
      });
    });
  try {
    return await measure(load, async () => (text) => Promise.all(text.split(" ").map(get)));
  } finally {
    session.close();
  }
}

if (import.meta.main) {
  process.on("message", async (load: Load) => {
    const measured = load.send === "reviews" ? measureReviews(load) : measureReads(load);
    process.send?.(await measured.catch(String));
  });
}
