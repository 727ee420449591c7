import type { Readable } from "node:stream";

/**
 * Reads a body into `into`, which has exactly its length, and returns that.
 * @throws Error where the client hangs up, or sends more or less.
 */
export function readBody(request: Readable, into: Buffer): Promise<Buffer> {
  let size = 0;
  // By events: a stream's iterator costs more to set up than a small body to read.
  return new Promise((resolve, reject) => {
    const keep = (chunk: Buffer) => {
      chunk.copy(into, size);
      size += chunk.length;
    };
    request.on("data", keep).once("error", reject);
    request.once("end", () => {
      if (size === into.length) resolve(into);
      else reject(new Error(`the body has ${size} bytes instead of ${into.length}`));
    });
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
