import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashFormat, type ViewEntry, viewOf } from "./hash.ts";

interface Vector {
  readonly name: string;
  readonly entries: readonly {
    readonly kind: "ConfigMap" | "Secret";
    readonly namespace: string;
    readonly name: string;
    readonly key: string;
    readonly state: "value" | "hidden";
    readonly value?: string;
  }[];
  readonly hash: string;
}

const adr = readFileSync(new URL("../../../contributing/adr/0002-hash.md", import.meta.url), "utf8");
const vectors: readonly Vector[] = JSON.parse(/```json\n(.*?)```/s.exec(adr)?.[1] ?? "[]");

function digestOfText(value: string): string {
  return createHash("sha256").update(value, "utf8").digest("binary");
}

function entryOf({ state, value = "", ...name }: Vector["entries"][number]): ViewEntry {
  return { ...name, digest: state === "hidden" ? undefined : digestOfText(value) };
}

// Few letters, so that concatenated parts often collide and entries often repeat.
const part = fc.string({ unit: fc.constantFrom("a", "b", "/", "\0", "\x01", "é"), maxLength: 4 });
const entries: fc.Arbitrary<ViewEntry[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("ConfigMap", "Secret"),
    namespace: part,
    name: part,
    key: part,
    digest: fc.oneof(fc.constant(undefined), part.map(digestOfText)),
  }),
  { maxLength: 5 },
);

function asSet(list: readonly ViewEntry[]): string {
  const texts = list.map((e) => JSON.stringify([e.kind, e.namespace, e.name, e.key, e.digest ?? null]));
  return [...new Set(texts)].sort().join();
}

describe("the hash", () => {
  it("has test vectors in its ADR", () => {
    expect(vectors.length).toBeGreaterThan(3);
  });

  it.each(vectors)("matches the test vector of the ADR: $name", ({ entries, hash }) => {
    expect(viewOf(entries.map(entryOf)).hash).toBe(hash);
  });

  it("does not depend on order or duplicates", () => {
    fc.assert(
      fc.property(entries, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (list, random) => {
        const shuffled = [...list, ...list]
          .map((entry) => ({ entry, at: random.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ entry }) => entry);
        expect(viewOf(shuffled)).toEqual(viewOf(list));
      }),
    );
  });

  it("differs exactly if the entries differ", () => {
    fc.assert(
      fc.property(entries, entries, (a, b) => {
        expect(viewOf(a).hash === viewOf(b).hash).toBe(asSet(a) === asSet(b));
      }),
      { numRuns: 500 },
    );
  });

  it.each<[ViewEntry[], ViewEntry[]]>([
    [[entry({ namespace: "ab", name: "c" })], [entry({ namespace: "a", name: "bc" })]],
    [[entry({ name: "a", key: "bc" })], [entry({ name: "ab", key: "c" })]],
    [[entry({})], [entry({ digest: undefined })]],
    [[entry({ key: "a", digest: undefined })], []],
    [[entry({ kind: "Secret" })], [entry({ kind: "ConfigMap" })]],
  ])("distinguishes entries whose concatenation is equal (%#)", (a, b) => {
    expect(viewOf(a).hash).not.toBe(viewOf(b).hash);
  });

  it("is recognized by its format alone", () => {
    expect(hashFormat(viewOf([]).hash)).toEqual({ keyId: undefined });
    expect(hashFormat(viewOf([]).hash.slice(3))).toBe("foreign");
    expect(hashFormat(`v3:${"0".repeat(64)}`)).toBe("foreign");
    expect(hashFormat(`v2:${"0".repeat(63)}`)).toBe("foreign");
  });
});

function entry(fields: Partial<ViewEntry>): ViewEntry {
  return { kind: "ConfigMap", namespace: "n", name: "o", key: "k", digest: digestOfText("v"), ...fields };
}
