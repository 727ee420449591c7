import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { listItems } from "./json-bytes.ts";

/** The parsed items of a list that arrives in chunks, and the remaining text. */
async function itemsOf(chunks: Iterable<Buffer>): Promise<{ items: unknown[]; rest: unknown }> {
  async function* stream() {
    yield* chunks;
  }
  const items: unknown[] = [];
  const cut = listItems(stream());
  for (;;) {
    const { done, value } = await cut.next();
    if (done) return { items, rest: JSON.parse(value.toString()) };
    items.push(JSON.parse(value.toString()));
  }
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** Text that looks like what the cutter looks for. */
const text = fc.string({
  unit: fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "€", "items", "a"),
  maxLength: 8,
});
/** V8 13.6 mistakes names that begin with an escape, of objects of one shape: `JSON.parse` would be wrong, and not the cutter. */
const name = text.filter((text) => !/^["\\]/.test(text));
const item = fc.oneof(text, fc.jsonValue({ stringUnit: fc.constantFrom("]", "}", ",", "é"), maxDepth: 3 }));
const other = name.filter((text) => text !== "items");

describe("the items of a list", () => {
  it("equal the result of JSON.parse, and the rest is the list without them, for every split of the bytes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(item, fc.dictionary(name, item))),
        fc.dictionary(other, item),
        fc.dictionary(other, item),
        fc.constantFrom(0, 1),
        fc.array(fc.nat(), { maxLength: 20 }),
        async (items, before, after, indent, places) => {
          const list = { ...before, items, ...after };
          const bytes = Buffer.from(JSON.stringify(list, null, indent));
          const parsed = JSON.parse(bytes.toString());
          expect(await itemsOf(cutAt(bytes, places))).toEqual({ items: parsed.items, rest: { ...parsed, items: [] } });
        },
      ),
      { numRuns: inject("everything") ? 1000 : 300 },
    );
  });

  it("are empty if there is no list", async () => {
    expect(await itemsOf([Buffer.from('{"items":null,"metadata":{"items":[1]}}')])).toEqual({
      items: [],
      rest: { items: null, metadata: { items: [1] } },
    });
  });

  it("are passed on before the next one arrives", async () => {
    const given: string[] = [];
    async function* chunks() {
      for (const part of ['{"items":[{"a":1}', ",", '{"b":2}', "]}"]) {
        given.push(part);
        yield Buffer.from(part);
      }
    }
    const cut = listItems(chunks());
    expect(String((await cut.next()).value)).toBe('{"a":1}');
    expect(given).toHaveLength(2);
  });

  it("must not exceed the maximum object size", async () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    await expect(itemsOf([Buffer.from('{"items":["'), ...Array<Buffer>(12).fill(chunk)])).rejects.toThrow(
      "the object exceeds",
    );
  });
});
