import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lines } from "./lines.ts";

async function* stream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

async function linesOf(chunks: readonly Buffer[]): Promise<string[]> {
  const found: string[] = [];
  for await (const line of lines(stream(chunks))) found.push(line.toString());
  return found;
}

/** The same bytes in pieces that end at these places, which may be the same place twice: an empty chunk. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const line = fc.string({ unit: fc.constantFrom("a", '"', "\r", "é", "€", "🌊", "\u0000"), maxLength: 12 });

describe("lines", () => {
  it("are the same for every split of the bytes into chunks, also in the middle of a character", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(), { maxLength: 20 }), async (texts, places) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
        expect(await linesOf(cutAt(bytes, places))).toEqual(texts);
      }),
      { numRuns: 500 },
    );
  });

  it("do not include bytes after the end of the last line, because the stream was cut there", async () => {
    expect(await linesOf([Buffer.from("whole\nbro"), Buffer.from("ken")])).toEqual(["whole"]);
  });

  it("of 3 MB are complete from small chunks", async () => {
    const long = "x".repeat(3_000_000);
    const bytes = Buffer.from(`${long}\nshort\n`);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 16_384) }, (_, index) =>
      bytes.subarray(index * 16_384, (index + 1) * 16_384),
    );
    expect(await linesOf(chunks)).toEqual([long, "short"]);
  });

  it("that are unfinished keep no larger buffer alive than they need", async () => {
    // What is begun in one chunk must not change when the memory of that chunk is used again.
    const reused = Buffer.from("one\ntw");
    async function* chunks() {
      yield reused;
      reused.fill("!");
      yield Buffer.from("o\n");
    }
    const found: string[] = [];
    for await (const each of lines(chunks())) found.push(each.toString());
    expect(found).toEqual(["one", "two"]);
  });

  it("must not exceed the maximum object size", async () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    await expect(linesOf(Array<Buffer>(13).fill(chunk))).rejects.toThrow("the object exceeds 12 MiB");
  });

  it("of a large object and many small ones after it are correct after its memory is released", async () => {
    const texts = ["x".repeat(200_000), ...Array.from({ length: 300 }, (_, index) => `line ${index}`)];
    const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
    const chunks = Array.from({ length: Math.ceil(bytes.length / 5) }, (_, index) =>
      bytes.subarray(index * 5, (index + 1) * 5),
    );
    expect(await linesOf(chunks)).toEqual(texts);
  });
});
