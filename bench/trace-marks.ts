// Loaded by Node before Wave (`--import`), only by the bench: notes when a process reaches the steps of an edit.

import { writeFileSync } from "node:fs";
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import { Store } from "../src/cache/store/store.ts";
import { WorkQueue } from "../src/runtime/work-queue.ts";
import { ControllerPermits } from "../src/runtime/write-permits.ts";

/** A step that the process reached, and when: milliseconds since 1970. */
export interface Mark {
  readonly step: "read" | "parsed" | "stored" | "queued" | "turn" | "planned" | "sent" | "answered";
  readonly at: number;
}

const marks: Mark[] = [];
const mark = (step: Mark["step"]) => void marks.push({ step, at: performance.timeOrigin + performance.now() });

/** Replaces a method of a class by one that marks a step first. */
function before<K extends string>(type: { readonly prototype: Record<K, unknown> }, name: K, step: Mark["step"]): void {
  const original = type.prototype[name] as (...args: unknown[]) => unknown;
  type.prototype[name] = function (this: unknown, ...args: unknown[]) {
    mark(step);
    return original.apply(this, args);
  };
}

before(Store, "recordVersion", "parsed");
before(Store, "put", "stored");
before(WorkQueue, "add", "queued");
before(ControllerPermits, "take", "planned");

const { get } = WorkQueue.prototype;
WorkQueue.prototype.get = async function (this: WorkQueue) {
  const key = await get.call(this);
  mark("turn");
  return key;
};

const { connect } = http2;
http2.connect = ((...args: Parameters<typeof connect>): ClientHttp2Session => {
  const session = connect(...args);
  const { request } = session;
  session.request = (headers, options) => {
    const stream = request.call(session, headers, options);
    const path = String((headers as OutgoingHttpHeaders)[":path"]);
    if (path.includes("/configmaps?") && path.includes("watch=true")) onBytes(stream, () => mark("read"));
    if ((headers as OutgoingHttpHeaders)[":method"] === "PATCH" && path.includes("/deployments/")) {
      mark("sent");
      stream.once("end", () => mark("answered"));
    }
    return stream;
  };
  return session;
}) as typeof connect;
syncBuiltinESMExports();

/** Calls `noted` when bytes of a stream have arrived, before anything reads them. */
function onBytes(stream: ClientHttp2Stream, noted: () => void): void {
  const { push } = stream;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk !== null) noted();
    return push.call(stream, chunk, encoding);
  };
}

process.once("exit", () => writeFileSync(process.env.TRACE_MARKS ?? "/dev/null", JSON.stringify(marks)));
