import { describe, expect, it } from "vitest";
import type { RolloutEdit } from "../outcomes/outcomes.ts";
import { type Cause, parseCause, writeCause } from "./cause.ts";

const hash = `v2:${"1a2b3c4d".repeat(8)}`;
const noon = Date.parse("2026-01-31T12:00:00Z");

const edit = (name: string, keys: readonly string[]): RolloutEdit => ({
  kind: "ConfigMap",
  namespace: "shop",
  name,
  keys,
  at: noon - 60_000,
  by: "kubectl-edit",
});

const cause: Cause = {
  at: noon,
  why: 'ConfigMap "page" changed (key "index.html")',
  edits: [edit("page", ["index.html"])],
  heldBy: "window",
};

describe("the cause of a rollout", () => {
  it("is the same after it was written and read", () => {
    expect(parseCause(hash, writeCause(hash, cause))).toEqual(cause);
    const unknown = {
      at: noon,
      why: "the hash was lost",
      edits: [{ ...edit("page", []), at: undefined, by: undefined }],
    };
    expect(parseCause(hash, writeCause(hash, { ...unknown, heldBy: undefined }))).toEqual({
      ...unknown,
      heldBy: undefined,
    });
  });

  it("is that of its hash only: an undo and a webhook write other hashes", () => {
    expect(parseCause(`v2:${"9".repeat(64)}`, writeCause(hash, cause))).toBeUndefined();
    expect(parseCause(undefined, writeCause(hash, cause))).toBeUndefined();
  });

  it("has no digits if only Pods were replaced and the pod template has no hash", () => {
    expect(parseCause(undefined, writeCause("", cause))).toEqual(cause);
    expect(parseCause(hash, writeCause("", cause))).toBeUndefined();
  });

  it("names at most ten objects and keys", () => {
    const keys = Array.from({ length: 300 }, (_, key) => `k${key}`);
    const { edits } =
      parseCause(hash, writeCause(hash, { ...cause, edits: [edit("a", ["x"]), edit("b", keys), edit("c", [])] })) ?? {};
    expect(edits?.map(({ name, keys }) => [name, keys.length])).toEqual([
      ["a", 1],
      ["b", 7],
    ]);
  });

  it("has at most 1 KiB and stays readable, whatever the names of a tenant are", () => {
    const long = "n".repeat(253);
    const edits = Array.from({ length: 10 }, () => ({ ...edit(long, [long]), by: "\u{1f30a}".repeat(128) }));
    for (const why of [
      "w".repeat(5_000),
      "\u{1f30a}".repeat(5_000),
      '"'.repeat(5_000),
      "\u0001".repeat(5_000),
      "\ud800".repeat(5_000),
    ]) {
      const text = writeCause(hash, { ...cause, why, edits });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_024);
      expect(parseCause(hash, text)?.at).toBe(noon);
    }
  });

  it.each([
    ["no JSON", "1a2b3c4d1a2b3c4d 2026-01-31T12:00:00Z why"],
    ["null", "null"],
    ["a list", "[]"],
    ["another time", writeCause(hash, cause).replace("2026-01-31T12:00:00Z", "noon")],
    ["a reason that is no text", writeCause(hash, { ...cause, why: "x" }).replace('"x"', "{}")],
    ["10 MB", `${writeCause(hash, cause)}${" ".repeat(10_000_000)}`],
  ])("is unknown if another client wrote %s", (_, annotation) => {
    expect(parseCause(hash, annotation)).toBeUndefined();
  });

  it("leaves out edits that another client wrote in another form", () => {
    const forged = writeCause(hash, cause).replace(
      /"edits":\[.*\],/,
      '"edits":[null,{"kind":"Pod","namespace":"a","name":"b"},{"kind":"Secret"},7],',
    );
    expect(parseCause(hash, forged)).toMatchObject({ at: noon, edits: [] });
  });
});
