import type { IncomingMessage } from "node:http";
import { lanes, maxBodyBytes, maxValues } from "./admission-budget.ts";
import { countValues, readBody } from "./body.ts";
import { Lane } from "./lane.ts";
import { type AdmissionRequest, ReviewError, readReview } from "./review.ts";

/** What came of a review, or that its body was too large to be read. */
export type Read<T> = { readonly state: "read"; readonly value: T } | { readonly state: "too large" };

/**
 * Reads reviews and keeps what all of them take of the memory within bounds: small ones go side by side, large ones after
 * each other, and those that wait have not been read yet, or not been parsed.
 */
export class ReviewReader {
  readonly #lanes = lanes.map((row) => ({ ...row, lane: new Lane(row.atOnce) }));

  /**
   * Calls `review` with what the body says; its place is held until that is done.
   * @throws ReviewError where the body is no review, Error where the client hangs up.
   */
  async read<T>(
    request: IncomingMessage,
    signal: AbortSignal,
    review: (asked: AdmissionRequest) => Promise<T>,
  ): Promise<Read<T>> {
    using places = new Places();
    const asked = await this.#parse(request, signal, places);
    return asked === undefined ? { state: "too large" } : { state: "read", value: await review(asked) };
  }

  /** Takes the places that the body needs, and lets go of its bytes; undefined where it is too large. */
  async #parse(request: IncomingMessage, signal: AbortSignal, places: Places): Promise<AdmissionRequest | undefined> {
    const given = request.headers["content-length"];
    const length = given === undefined ? maxBodyBytes : Number(given);
    const first = this.#laneOf(length, 0);
    places.take(await first.enter(signal));
    const body = await readBody(request, maxBodyBytes, given === undefined ? undefined : length);
    if (body.state === "too large") return undefined;
    const values = countValues(body.bytes, maxValues);
    if (values > maxValues) throw new ReviewError(`the body has more than ${maxValues} values`);
    // On to a later lane only: who waits for one never holds what its own wait for.
    const second = this.#laneOf(length, values);
    if (second !== first) places.take(await second.enter(signal));
    return readReview(body.bytes);
  }

  #laneOf(length: number, values: number): Lane {
    const fitting = this.#lanes.find((row) => length <= row.bytes && values <= row.values);
    // What is larger than all of them is read to its end and thrown away.
    return (fitting ?? this.#lanes[this.#lanes.length - 1])?.lane ?? new Lane(1);
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
