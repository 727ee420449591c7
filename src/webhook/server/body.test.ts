import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countValues, readBody } from "./body.ts";

describe("a body", () => {
  it("is read whole, also an empty one, however it is cut", async () => {
    for (const text of ["", "a", "abcd"]) {
      const parts = Readable.from([...text].map((part) => Buffer.from(part)));
      expect((await readBody(parts, Buffer.alloc(text.length))).toString()).toBe(text);
    }
  });

  it.each([3, 5])("that has not as many bytes as were said is an error", async (length) => {
    const parts = Readable.from([Buffer.from("ab"), Buffer.from("cd")]);
    await expect(readBody(parts, Buffer.alloc(length))).rejects.toThrow(`4 bytes instead of ${length}`);
  });

  it("whose sender hangs up is an error", async () => {
    const body = new Readable({ read() {} });
    const read = expect(readBody(body, Buffer.alloc(4))).rejects.toThrow("the client hung up");
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
