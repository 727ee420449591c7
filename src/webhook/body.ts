import type { Readable } from "node:stream";

/** How much of requests' bodies is kept in memory, in bytes. */
export interface BodyLimits {
  /** Of one body. */
  readonly one: number;
  /** Of all bodies that are read at the same time. */
  readonly all: number;
}

/** A body, or why it was not kept. */
export type Body =
  | { readonly state: "whole"; readonly bytes: Buffer }
  | { readonly state: "too large" }
  | { readonly state: "too many" };

/** Reads bodies within limits, so that nobody can fill the memory by sending. */
export class BodyReader {
  readonly #limits: BodyLimits;
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /**
   * Reads the whole body. One that exceeds a limit is read to its end and thrown away, so that the client sees the answer
   * instead of a broken connection; one that never ends is for the server's time limit to cut off.
   * @throws Error where the client hangs up.
   */
  async read(request: Readable): Promise<Body> {
    const chunks: Buffer[] = [];
    let size = 0;
    let state: Body["state"] = "whole";
    let held = 0;
    const release = () => {
      this.#held -= held;
      held = 0;
      chunks.length = 0;
    };
    const keep = (chunk: Buffer) => {
      size += chunk.length;
      if (size > this.#limits.one) state = "too large";
      else if (state === "whole" && this.#held + chunk.length > this.#limits.all) state = "too many";
      if (state !== "whole") return release();
      chunks.push(chunk);
      held += chunk.length;
      this.#held += chunk.length;
    };
    try {
      await whole(request, keep);
      return state === "whole" ? { state, bytes: Buffer.concat(chunks, size) } : { state };
    } finally {
      release();
    }
  }
}

/** By events: a stream's iterator costs more to set up than a small body to read. */
function whole(request: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    request.on("data", take).once("end", resolve).once("error", reject);
    request.once("close", () => {
      if (!request.readableEnded) reject(new Error("the client hung up"));
    });
  });
}
