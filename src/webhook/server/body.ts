import type { Readable } from "node:stream";

/**
 * Reads a body into `into`, whose length is the content length, and returns it. Overwrites the chunks that it has read.
 * @throws Error if the client disconnects, or sends more or less.
 */
export function readReviewBody(request: Readable, into: Buffer): Promise<Buffer> {
  let size = 0;
  // With events: the iterator of a stream costs more than to read a small body.
  return new Promise((resolve, reject) => {
    const append = (chunk: Buffer) => {
      chunk.copy(into, size);
      chunk.fill(0);
      size += chunk.length;
    };
    request.on("data", append).once("error", reject);
    request.once("end", () => {
      if (size === into.length) resolve(into);
      else reject(new Error(`the body has ${size} bytes, but Content-Length is ${into.length}`));
    });
    request.once("close", () => {
      if (!request.readableEnded) reject(new Error("the client disconnected"));
    });
  });
}

/** Bytes that are searched at once. */
const chunkBytes = 64 * 1024;

/**
 * Returns an upper bound of the number of values in this JSON: its commas and opening brackets, also those in strings. Stops
 * when the number exceeds `limit`. Parsed JSON takes memory by its values: `{},` has 3 bytes and takes 70.
 */
export function countValues(bytes: Buffer, limit: number): number {
  let count = 1;
  for (let at = 0; at < bytes.length && count <= limit; at += chunkBytes) {
    // V8 compiles a regular expression to machine code even with the flags of Wave.
    count += bytes.toString("latin1", at, Math.min(at + chunkBytes, bytes.length)).match(/[,[{]/g)?.length ?? 0;
  }
  return count;
}
