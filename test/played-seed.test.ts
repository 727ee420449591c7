import { globSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { playedSeed } from "./support/played-seed.ts";

/** Returns the values that a property draws without its own seed. */
function drawn(): number[] {
  const seen: number[] = [];
  fc.assert(fc.property(fc.integer(), (number) => void seen.push(number)));
  return seen;
}

describe("the seed of a run", () => {
  it("depends on the code, so that a repeated run draws the same values", () => {
    vi.stubEnv("WAVE_SEED", undefined);
    expect(playedSeed()).toBe(playedSeed());
    vi.unstubAllEnvs();
    expect(drawn()).toEqual(drawn());
  });

  it("is the value of WAVE_SEED if that is set", () => {
    expect(playedSeed("42")).toBe(42);
    expect(playedSeed("random")).not.toBe(playedSeed("random"));
    for (const asked of ["", "-1", "1.5", "2147483648", "anything"]) {
      expect(() => playedSeed(asked), asked).toThrow("from 0 to 2147483647");
    }
  });

  it("is set wherever properties are: by the setup of units and of the suite of pins, or in the file itself", () => {
    const files = globSync("{src,sandbox,test,bench,deploy}/**/*.ts").filter((file) =>
      /["'`]fast-check/.test(readFileSync(file, "utf8")),
    );
    const unseeded = files.filter((file) => {
      const text = readFileSync(file, "utf8");
      const hasSetup =
        /^(src|sandbox|test\/simulation)\/.*\.test\.ts$|^test\/[^/]+\.test\.ts$|^test\/pinning\//.test(file) &&
        text.includes('from "fast-check"');
      return !hasSetup && !text.includes("seed: playedSeed()");
    });
    expect(unseeded).toEqual([]);
  });
});
