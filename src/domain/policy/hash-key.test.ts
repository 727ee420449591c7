import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { hashFormat, type ViewEntry, viewOf } from "../config/hash.ts";
import { hashKey } from "./hash-key.ts";

interface Vector {
  readonly name: string;
  readonly key: string;
  readonly entries: readonly (Omit<ViewEntry, "digest"> & { readonly value: string })[];
  readonly hash: string;
}

const adr = readFileSync(new URL("../../../contributing/adr/0008-hash-key.md", import.meta.url), "utf8");
const vectors: readonly Vector[] = JSON.parse(/```json\n(.*?)```/s.exec(adr)?.[1] ?? "[]");
const digestOf = (value: string) => createHash("sha256").update(value).digest("binary");

describe("a hash with a key", () => {
  it("has test vectors in its ADR", () => {
    expect(vectors).toHaveLength(3);
  });

  it.each(vectors)("equals the test vector of the ADR: $name", ({ key, entries, hash }) => {
    const view = viewOf(
      entries.map(({ value, ...name }) => ({ ...name, digest: digestOf(value) })),
      hashKey(Buffer.from(key, "hex")),
    );
    expect(view.hash).toBe(hash);
    expect(hashFormat(hash)).toEqual({ keyId: hash.slice(3, 11) });
  });
});

describe("a key", () => {
  it("is never shown when it is printed or serialized", () => {
    const key = hashKey(Buffer.alloc(32, "hunter2!"));
    const shown = `${inspect(key, { depth: 9, showHidden: true })} ${JSON.stringify(key)} ${String(key.secret)}`;
    for (const form of [
      "hunter2",
      Buffer.from("hunter2!").toString("hex"),
      Buffer.from("hunter2!h").toString("base64"),
    ]) {
      expect(shown).not.toContain(form);
    }
  });

  it.each([0, 31, 33])("rejects %d bytes", (length) => {
    expect(() => hashKey(Buffer.alloc(length))).toThrow("32 bytes");
  });
});
