import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { collectAfterBytes, maxJsonValues } from "./admission-limits.ts";
import { ReviewReader } from "./review-reader.ts";

const { signal } = new AbortController();
const bodyOf = (request: object) =>
  Buffer.from(JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request }));

function readingWith(reader: ReviewReader) {
  return <T>(body: Buffer, review: (object: unknown) => T): Promise<T> =>
    reader.read(Readable.from([Buffer.from(body)], { objectMode: false }), body.length, signal, async ({ object }) =>
      review(object),
    );
}

describe("ReviewReader", () => {
  it("collects garbage after each 2 MiB of reviews, before it parses more, and not after small reviews", async () => {
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

  it("removes managedFields before it parses and counts values", async () => {
    const read = readingWith(new ReviewReader());
    const fieldsV1 = Object.fromEntries(Array.from({ length: maxJsonValues }, (_, index) => [`f:${index}`, {}]));
    const object = { metadata: { managedFields: [{ manager: "a", fieldsV1 }] } };
    expect(await read(bodyOf({ uid: "u", object }), (seen) => seen)).toEqual({
      metadata: { managedFields: [{ manager: "a", fieldsV1: {} }] },
    });
  });
});
