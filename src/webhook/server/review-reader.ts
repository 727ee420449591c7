import type { Readable } from "node:stream";
import { withoutBulkyFields } from "../../kube/http/large-json.ts";
import { GarbageCollection } from "../../lib/garbage-collection.ts";
import { SlotPool } from "../../lib/slot-pool.ts";
import { collectAfterBytes, lanes, maxJsonValues } from "./admission-limits.ts";
import { countValues, readReviewBody } from "./body.ts";
import { type AdmissionRequest, ReviewError, readReview } from "./review.ts";

/**
 * Reads reviews and limits the memory of all of them. It reads small reviews concurrently and large ones one after another. It
 * does not read or parse a review while that review waits.
 */
export class ReviewReader {
  readonly #lanes = lanes.map((row) => ({ ...row, lane: new SlotPool(row.concurrent) }));
  readonly #garbage: GarbageCollection;

  /** `collect` frees the garbage of earlier reviews. Default: the garbage collector of V8, if it is exposed. */
  constructor(collect?: () => void) {
    this.#garbage = new GarbageCollection(collectAfterBytes, collect);
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
    this.#garbage.beforeReading(bytes.length);
    return await review(readReview(bytes));
  }

  #laneOf(length: number, values: number): SlotPool {
    const row = this.#lanes.find(({ bytes, values: most }) => length <= bytes && values <= most);
    if (row === undefined) throw new RangeError(`no lane accepts a review of ${length} bytes and ${values} values`);
    return row.lane;
  }
}
