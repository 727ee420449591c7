import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { collectAfterBytes, maxValues } from "./admission-limits.ts";
import { ReviewReader } from "./review-reader.ts";

const { signal } = new AbortController();
const bodyOf = (request: object) =>
  Buffer.from(JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request }));

function readingWith(reader: ReviewReader) {
  return <T>(body: Buffer, review: (object: unknown) => T): Promise<T> =>
    reader.read(Readable.from([body], { objectMode: false }), body.length, signal, async ({ object }) =>
      review(object),
    );
}

describe("the reader of reviews", () => {
  it("collects what reviews have left each time that they were 2 MiB, before it parses more, and not after the small ones of every day", async () => {
    let collections = 0;
    const read = readingWith(new ReviewReader(() => collections++));
    const daily = bodyOf({ uid: "u", object: { a: "x".repeat(4_000) } });
    for (let i = 0; i < 250; i++) await read(daily, () => {});
    expect(collections).toBe(0);
    const large = bodyOf({ uid: "u", object: { a: "x".repeat(collectAfterBytes / 2 - 200) } });
    const seen: number[] = [];
    for (let i = 0; i < 5; i++) seen.push(await read(large, () => collections));
    expect(seen).toEqual([0, 1, 1, 2, 2]);
  });

  it("leaves out which fields somebody manages, which nobody here asks, and does not count them", async () => {
    const read = readingWith(new ReviewReader());
    const fieldsV1 = Object.fromEntries(Array.from({ length: maxValues }, (_, index) => [`f:${index}`, {}]));
    const object = { metadata: { managedFields: [{ manager: "a", fieldsV1 }] } };
    expect(await read(bodyOf({ uid: "u", object }), (seen) => seen)).toEqual({
      metadata: { managedFields: [{ manager: "a", fieldsV1: {} }] },
    });
  });
});
