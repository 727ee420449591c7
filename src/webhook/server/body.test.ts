import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countValues, readReviewBody } from "./body.ts";

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
