import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countValues, readBody } from "./body.ts";

describe("a body", () => {
  it("is read whole, also an empty one and one of exactly the limit", async () => {
    for (const text of ["", "a", "abcd"]) {
      for (const length of [text.length, undefined]) {
        const parts = Readable.from([...text].map((part) => Buffer.from(part)));
        expect(await readBody(parts, 4, length)).toEqual({ state: "whole", bytes: Buffer.from(text) });
      }
    }
  });

  it("of a length that nobody said is kept whole, however it is cut", async () => {
    const whole = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const pieces = Array.from({ length: 30 }, (_, index) => whole.subarray(index * 10_000, (index + 1) * 10_000));
    expect(await readBody(Readable.from(pieces), 300_000, undefined)).toEqual({ state: "whole", bytes: whole });
    expect(await readBody(Readable.from(pieces), 299_999, undefined)).toEqual({ state: "too large" });
  });

  it("that is larger than the limit is read to its end, and nothing of it is kept", async () => {
    let sent = 0;
    function* parts() {
      for (; sent < 10; sent++) yield Buffer.from("abc");
    }
    expect(await readBody(Readable.from(parts(), { objectMode: false }), 4, 30)).toEqual({ state: "too large" });
    expect(sent).toBe(10);
  });

  it("whose sender hangs up is an error", async () => {
    const body = new Readable({ read() {} });
    const read = expect(readBody(body, 4, 4)).rejects.toThrow("the client hung up");
    body.push("ab");
    body.destroy();
    await read;
  });
});

describe("the count of values", () => {
  const valuesOf = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce((sum: number, inner) => sum + valuesOf(inner), 1)
      : 1;

  it("is never below what JSON has, and above it only by what strings hold", () => {
    const plain = fc.jsonValue({ noUnicodeString: false });
    fc.assert(
      fc.property(plain, (value) => {
        const text = JSON.stringify(value);
        const count = countValues(Buffer.from(text), 1e9);
        expect(count).toBeGreaterThanOrEqual(valuesOf(value));
        const inStrings = (text.match(/"(?:[^"\\]|\\.)*"/g) ?? []).join("").match(/[,[{]/g)?.length ?? 0;
        // An array or object that is not empty has one separator less than it has members, and an opening of its own.
        expect(count - inStrings).toBeLessThanOrEqual(2 * valuesOf(value));
      }),
    );
  });

  it("goes over the whole body, and stops where there are too many", () => {
    const many = Buffer.from("{},".repeat(100_000));
    expect(countValues(many, 1e9)).toBe(200_001);
    const stopped = countValues(many, 1000);
    expect(stopped).toBeGreaterThan(1000);
    expect(stopped).toBeLessThan(100_000);
  });
});
