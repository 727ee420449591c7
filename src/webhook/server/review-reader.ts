import type { Readable } from "node:stream";
import { withoutBulkyFields } from "../../kube/http/json-bytes.ts";
import { collectGarbageAfter } from "../../lib/garbage-collection.ts";
import { SlotPool } from "../../lib/slot-pool.ts";
import { type AdmissionRequest, ReviewError, readReview } from "./review.ts";

/** Reads reviews in limited memory: small ones concurrently, large ones one after another. A review that waits is not read. */
export class ReviewReader {
  readonly #lanes = lanes.map((row) => ({ ...row, lane: new SlotPool(row.concurrent) }));
  readonly #beforeParsing;

  /** `collect` frees the garbage of earlier reviews. Default: the garbage collector of V8, if it is exposed. */
  constructor(collect?: () => void) {
    this.#beforeParsing = collectGarbageAfter(collectAfterBytes, collect);
  }

  /**
   * Reads the body of `length` bytes, at most {@link maxBodyBytes}, and calls `review` with its request. The place in the lane is
   * taken until `review` has settled.
   * @throws ReviewError if the body is not an AdmissionReview, Error if the client disconnects.
   */
  async read<T>(
    request: Readable,
    length: number,
    signal: AbortSignal,
    review: (request: AdmissionRequest) => Promise<T>,
  ): Promise<T> {
    const lane = this.#laneOf(length, 0);
    using place = await lane.acquire(signal);
    const memory = place.memory(length);
    using parsing = new DisposableStack();
    parsing.defer(() => memory.fill(0));
    const bytes = withoutBulkyFields(await readReviewBody(request, memory));
    const values = countValues(bytes, maxJsonValues);
    if (values > maxJsonValues) throw new ReviewError(`the body has more than ${maxJsonValues} JSON values`);
    // Only a later lane is entered here, so two reviews never wait for each other.
    const later = this.#laneOf(length, values);
    using _second = later === lane ? undefined : await later.acquire(signal);
    this.#beforeParsing(bytes.length);
    return await review(readReview(bytes));
  }

  #laneOf(length: number, values: number): SlotPool {
    const row = this.#lanes.find(({ bytes, values: most }) => length <= bytes && values <= most);
    if (row === undefined) throw new RangeError(`no lane accepts a review of ${length} bytes and ${values} values`);
    return row.lane;
  }
}

/** Reads a body into `into`, which has its length, and overwrites the chunks. Throws if the client disconnects or the length differs. */
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

/**
 * Limits of one review and of all concurrent reviews. They are far above real workloads: a Deployment with 1,000 environment
 * variables takes 0.5 MiB and 12,000 values in an UPDATE, which contains it twice.
 */

/** Maximum body. The API server stores at most 1.5 MiB, and an UPDATE contains the object twice. */
export const maxBodyBytes = 4 * 1024 * 1024;

/** Maximum number of JSON values without managed fields, by `countValues`. This number of empty objects takes 10 MiB. */
export const maxJsonValues = 125_000;

/** Bytes of parsed reviews after which garbage is collected. A collection takes about 15 ms. */
export const collectAfterBytes = 2 * 1024 * 1024;

/**
 * Concurrent reviews by size. A review belongs to the first row whose bytes and values it does not exceed. Most are in the
 * first row. A full row of large reviews holds about 10 MiB of parsed JSON, whatever their content is.
 */
const lanes = [
  { bytes: 32 * 1024, values: 2000, concurrent: 128 },
  { bytes: 512 * 1024, values: 25_000, concurrent: 4 },
  { bytes: maxBodyBytes, values: maxJsonValues, concurrent: 1 },
] as const;

/** Maximum number of concurrent reviews of one namespace, so that one namespace cannot use all of them. */
export const maxReviewsPerNamespace = 64;

/** Maximum number of objects that Wave reads for one review. */
export const maxObjectsPerReview = 64;

/** Maximum number of concurrent reads of all reviews. Wave's other requests still fit on the same connection. */
export const maxConcurrentReads = 32;

/** Timeout of all reads of one review, in milliseconds. The API server waits five seconds. */
export const readsTimeoutMs = 3000;

/**
 * Time of a review with its reads, its copies and a second try, in milliseconds: less than the API server waits. It would ignore a later
 * response, and create Pods that read live configuration.
 */
export const reviewTimeoutMs = 4000;

/** Limits of {@link WebhookConnections}. A connection takes 74 KiB. */
export const connectionLimits = { total: 320, unauthenticated: 160, unauthenticatedMs: 10_000 };
