import type { Readable } from "node:stream";

/** A body, or that it was too large to be kept. */
export type Body = { readonly state: "whole"; readonly bytes: Buffer } | { readonly state: "too large" };

/**
 * Reads a body of at most `limit` bytes. One that is larger is read to its end and thrown away, so that the client sees
 * the answer instead of a broken connection; one that never ends is for the server's time limit to cut off. `length` is
 * what its head says, undefined where that says nothing: a body of known length is kept once and not in pieces.
 * @throws Error where the client hangs up.
 */
export function readBody(request: Readable, limit: number, length: number | undefined): Promise<Body> {
  let bytes = Buffer.allocUnsafe(Math.min(length ?? pieceBytes, limit));
  let size = 0;
  const keep = (chunk: Buffer) => {
    const end = size + chunk.length;
    if (end <= limit && end > bytes.length) bytes = Buffer.concat([bytes.subarray(0, size)], Math.min(2 * end, limit));
    if (end <= limit) chunk.copy(bytes, size);
    size = end;
  };
  // By events: a stream's iterator costs more to set up than a small body to read.
  return new Promise((resolve, reject) => {
    request.on("data", keep).once("error", reject);
    request.once("end", () =>
      resolve(size <= limit ? { state: "whole", bytes: bytes.subarray(0, size) } : { state: "too large" }),
    );
    request.once("close", () => {
      if (!request.readableEnded) reject(new Error("the client hung up"));
    });
  });
}

/** As much as is looked at in one go. */
const pieceBytes = 64 * 1024;

/**
 * At least as many values as JSON of these bytes has: its commas and opening brackets, also those inside of strings. Stops
 * counting once there are more than `limit`. What is parsed takes memory by its values: `{},` has 3 bytes and takes 70.
 */
export function countValues(bytes: Buffer, limit: number): number {
  let count = 1;
  for (let at = 0; at < bytes.length && count <= limit; at += pieceBytes) {
    // A regular expression, because V8 runs it as machine code also with the flags that Wave has.
    count += bytes.toString("latin1", at, Math.min(at + pieceBytes, bytes.length)).match(/[,[{]/g)?.length ?? 0;
  }
  return count;
}
