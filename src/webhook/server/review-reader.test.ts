import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectAfterBytes, countValues, maxJsonValues, ReviewReader, readReviewBody } from "./review-reader.ts";

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

describe("readReviewBody", () => {
  it("reads a whole body, also an empty one, in any chunks", async () => {
    for (const text of ["", "a", "abcd"]) {
      const parts = Readable.from([...text].map((part) => Buffer.from(part)));
      expect((await readReviewBody(parts, Buffer.alloc(text.length))).toString()).toBe(text);
    }
  });

  it.each([3, 5])("rejects a body whose length is not the Content-Length", async (length) => {
    const parts = Readable.from([Buffer.from("ab"), Buffer.from("cd")]);
    await expect(readReviewBody(parts, Buffer.alloc(length))).rejects.toThrow(
      `the body has 4 bytes, but Content-Length is ${length}`,
    );
  });

  it("rejects when the client disconnects", async () => {
    const body = new Readable({ read() {} });
    const read = expect(readReviewBody(body, Buffer.alloc(4))).rejects.toThrow("the client disconnected");
    body.push("ab");
    body.destroy();
    await read;
  });
});

describe("countValues", () => {
  const valuesOf = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce((sum: number, inner) => sum + valuesOf(inner), 1)
      : 1;

  it("is never below the number of values, and above it only by characters in strings", () => {
    const plain = fc.jsonValue({ noUnicodeString: false });
    fc.assert(
      fc.property(plain, (value) => {
        const text = JSON.stringify(value);
        const count = countValues(Buffer.from(text), 1e9);
        expect(count).toBeGreaterThanOrEqual(valuesOf(value));
        const inStrings = (text.match(/"(?:[^"\\]|\\.)*"/g) ?? []).join("").match(/[,[{]/g)?.length ?? 0;
        // A non-empty array or object has one separator less than members, and one opening bracket.
        expect(count - inStrings).toBeLessThanOrEqual(2 * valuesOf(value));
      }),
    );
  });

  it("searches the whole body, and stops at the limit", () => {
    const many = Buffer.from("{},".repeat(100_000));
    expect(countValues(many, 1e9)).toBe(200_001);
    const stopped = countValues(many, 1000);
    expect(stopped).toBeGreaterThan(1000);
    expect(stopped).toBeLessThan(100_000);
  });
});
