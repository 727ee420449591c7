import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

describe("nearest", () => {
  it.each([
    { typed: "rnu", meant: "run" },
    { typed: "explian", meant: "explain" },
    { typed: "ru", meant: "run" },
    { typed: "delete", meant: undefined },
    { typed: "x".repeat(100), meant: undefined },
  ])("takes $typed for $meant", ({ typed, meant }) => {
    expect(nearest(typed, ["run", "explain", "version"])).toBe(meant);
  });
});
