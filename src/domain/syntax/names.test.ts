import { describe, expect, it } from "vitest";
import { closestName } from "./names.ts";

describe("nearest", () => {
  it.each([
    { typed: "rnu", closest: "run" },
    { typed: "explian", closest: "explain" },
    { typed: "ru", closest: "run" },
    { typed: "delete", closest: undefined },
    { typed: "x".repeat(100), closest: undefined },
  ])("suggests $closest for $typed", ({ typed, closest }) => {
    expect(closestName(typed, ["run", "explain", "version"])).toBe(closest);
  });
});
