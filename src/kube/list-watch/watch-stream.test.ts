import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  added,
  breaks,
  endOfList,
  event,
  follow,
  goesOn,
  last,
  listing,
  watching,
} from "../../../test/support/kube/scripted-watch.ts";
import { lines } from "./watch-stream.ts";

describe("a line of a watch that is not an event", () => {
  const broken = [
    '{"type":"ADDED","object":{"metadata":{"name":"db","namespace":"a"},"data":{"password":"aHVudGVyMg=="}\n',
    "hunter2\n",
    '"hunter2"\n',
    "null\n",
    "\n",
    event("ADDED", null),
    event("ADDED", { data: { password: "aHVudGVyMg==" } }),
    event("ADDED", { metadata: null }),
    event("ERROR", null),
    '{"object":{"data":{"password":"hunter2"}}}\n',
  ];

  it("is skipped: later events arrive, and nothing is requested again", async () => {
    const { asked, told } = await follow(goesOn(...broken, endOfList("5"), ...broken, added(last, "6")));
    expect(told).toEqual(["init", "initDone", `apply ${last}`]);
    expect(asked).toHaveLength(1);
  });

  it("is logged with its length and the name of its object, and never with its content", async () => {
    const { logged } = await follow(goesOn(...broken, endOfList("5"), added(last, "6")));
    expect(logged).toHaveLength(broken.length);
    expect(logged[0]).toBe(
      `warn skipped a line of a watch that is not an event {"watch":"secrets","bytes":101,"namespace":"a","name":"db"}`,
    );
    expect(logged.join()).not.toMatch(/aHVudGVyMg|hunter2|password/);
  });

  it("does not prevent the watch from resuming at its position", async () => {
    const nameless = event("MODIFIED", { metadata: { name: "y" } });
    const { asked } = await follow(breaks(endOfList("5"), added("x", "6"), nameless, "{"), goesOn(added(last, "7")));
    expect(asked).toMatchObject([listing, watching("6")]);
  });
});

describe("events that arrive in pieces", () => {
  it("arrive complete, also if a chunk ends in the middle of a character", async () => {
    const bytes = Buffer.from(endOfList("5") + added("größe€", "6") + added(last, "7"));
    const { told } = await follow(async (response) => {
      for (const byte of bytes) if (!response.write(Buffer.of(byte))) await once(response, "drain");
    });
    expect(told).toEqual(["init", "initDone", "apply größe€", `apply ${last}`]);
  });
});

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
