import type { Readable } from "node:stream";
import { withoutBulk } from "../../kube/http/large-json.ts";
import { Garbage } from "../../lib/garbage.ts";
import { Lane } from "../../lib/lane.ts";
import { collectAfterBytes, lanes, maxValues } from "./admission-limits.ts";
import { countValues, readBody } from "./body.ts";
import { type AdmissionRequest, ReviewError, readReview } from "./review.ts";

/**
 * Reads reviews and keeps what all of them take of the memory within bounds: small ones go side by side, large ones after
 * each other, and those that wait have not been read yet, or not been parsed.
 */
export class ReviewReader {
  readonly #lanes = lanes.map((row) => ({ ...row, lane: new Lane(row.atOnce) }));
  readonly #garbage: Garbage;

  /** `collect` frees what earlier reviews left. Default: V8's own, where it is exposed. */
  constructor(collect?: () => void) {
    this.#garbage = new Garbage(collectAfterBytes, collect);
  }

  /**
   * Calls `review` with what the body of `length` bytes says, at most {@link maxBodyBytes}; its place is held until that is
   * done.
   * @throws ReviewError where the body is no review, Error where the client hangs up.
   */
  async read<T>(
    request: Readable,
    length: number,
    signal: AbortSignal,
    review: (asked: AdmissionRequest) => Promise<T>,
  ): Promise<T> {
    const lane = this.#laneOf(length, 0);
    using place = await lane.enter(signal);
    const bytes = withoutBulk(await readBody(request, place.memory(length)));
    const values = countValues(bytes, maxValues);
    if (values > maxValues) throw new ReviewError(`the body has more than ${maxValues} values`);
    // On to a later lane only: who waits for one never holds what its own wait for.
    const later = this.#laneOf(length, values);
    using _second = later === lane ? undefined : await later.enter(signal);
    this.#garbage.before(bytes.length);
    return await review(readReview(bytes));
  }

  #laneOf(length: number, values: number): Lane {
    const row = this.#lanes.find(({ bytes, values: most }) => length <= bytes && values <= most);
    if (row === undefined) throw new RangeError(`no lane is for ${length} bytes and ${values} values`);
    return row.lane;
  }
}
