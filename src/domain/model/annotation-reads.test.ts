import { describe, expect, it } from "vitest";
import { recordReads, withShortValues } from "./annotation-reads.ts";

describe("recordReads", () => {
  it("records the names of the annotations that are read, present or not", () => {
    const { annotations, reads } = recordReads({ a: "1", b: "2", c: "3" });
    expect([annotations.b, annotations.a, annotations.missing]).toEqual(["2", "1", undefined]);
    expect(reads()).toEqual({ names: ["a", "b", "missing"], values: { a: "1", b: "2" } });
  });

  it("does not treat a list of all names as a read", () => {
    const { annotations, reads } = recordReads({ a: "1" });
    expect(Object.keys(annotations)).toEqual(["a"]);
    expect(reads()).toEqual({ names: [], values: {} });
  });

  it("shares the reads of workloads with equal short values", () => {
    const readsOf = (value: string) => {
      const { annotations, reads } = recordReads({ a: value });
      expect(annotations.a).toBe(value);
      return reads();
    };
    expect(readsOf("true").names).toBe(readsOf("false").names);
    expect(readsOf("true").values).toBe(readsOf("true").values);
    expect(readsOf("true").values).not.toEqual(readsOf("false").values);
    expect(readsOf("x".repeat(500)).values).toEqual({ a: "x".repeat(500) });
  });

  it("keeps only short values if a maximum length is given", () => {
    const { annotations, reads } = recordReads({ a: "12", b: "123" });
    expect(annotations.a + (annotations.b ?? "")).toBe("12123");
    expect(reads(2)).toEqual({ names: ["a", "b"], values: { a: "12" } });
    expect(withShortValues(reads(), 2)).toEqual(reads(2));
  });
});
