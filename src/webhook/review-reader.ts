import type { IncomingMessage } from "node:http";
import { maxBodyBytes, maxValues, smallAtOnce, smallBody } from "./admission-budget.ts";
import { countValues, readBody } from "./body.ts";
import { Lane } from "./lane.ts";
import { type AdmissionRequest, ReviewError, readReview } from "./review.ts";

/** What came of a review, or that its body was too large to be read. */
export type Read<T> = { readonly state: "read"; readonly value: T } | { readonly state: "too large" };

/**
 * Reads reviews and keeps what all of them take of the memory within bounds: small ones go side by side, large ones one
 * at a time, and those that wait have not been read yet, or not been parsed.
 */
export class ReviewReader {
  readonly #small = new Lane(smallAtOnce);
  readonly #large = new Lane(1);

  /**
   * Calls `review` with what the body says; it is held until that is done.
   * @throws ReviewError where the body is no review, Error where the client hangs up.
   */
  async read<T>(
    request: IncomingMessage,
    signal: AbortSignal,
    review: (asked: AdmissionRequest) => Promise<T>,
  ): Promise<Read<T>> {
    const length = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY);
    const isSmall = length <= smallBody.bytes;
    using places = new Places();
    places.take(await (isSmall ? this.#small : this.#large).enter(signal));
    const body = await readBody(request, maxBodyBytes);
    if (body.state === "too large") return body;
    const values = countValues(body.bytes, maxValues);
    if (values > maxValues) throw new ReviewError(`the body has more than ${maxValues} values`);
    if (isSmall && values > smallBody.values) places.take(await this.#large.enter(signal));
    return { state: "read", value: await review(readReview(body.bytes)) };
  }
}

/** What has to be left at the end. */
class Places {
  readonly #leave: (() => void)[] = [];

  take(leave: () => void): void {
    this.#leave.push(leave);
  }

  [Symbol.dispose](): void {
    for (const leave of this.#leave) leave();
  }
}
