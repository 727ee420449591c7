import { describe, expect, it } from "vitest";
import { workload } from "../../../test/support/domain/objects.ts";
import { mergeWarnings } from "./warning.ts";

const optIn = "wave.pusher.com/update-on-config-change";

describe("warnings", () => {
  it("are merged to one for each reason, in order of occurrence", () => {
    const warnings = mergeWarnings([
      { reason: "InvalidAnnotation", message: "a" },
      { reason: "CrossNamespaceRefused", message: "b" },
      { reason: "InvalidAnnotation", message: "c" },
    ]);
    expect(warnings).toEqual([
      { reason: "InvalidAnnotation", message: "a; c" },
      { reason: "CrossNamespaceRefused", message: "b" },
    ]);
    expect(mergeWarnings([])).toEqual([]);
  });

  it("fit into an Event, and count the messages that do not fit", () => {
    const many = Array.from({ length: 40 }, (_, i) => ({
      reason: "InvalidAnnotation" as const,
      message: `${i} ${"é".repeat(40)}`,
    }));
    const [one, ...rest] = mergeWarnings(many);
    expect(rest).toEqual([]);
    expect(Buffer.byteLength(one?.message ?? "")).toBeLessThanOrEqual(1000);
    expect(one?.message).toMatch(/; and 29 more$/);
  });

  it("of thousands of mistakes name the first ones and count the rest, each cut to 80 characters", () => {
    const bad = Array.from({ length: 5000 }, (_, i) => `Bad_${i}_${"x".repeat(i === 0 ? 500 : 1)}`);
    const unknown = Array.from({ length: 5000 }, (_, i) => [`wave.pusher.com/x-${i}`, ""]);
    const annotations = { [optIn]: "true", "wave.pusher.com/extra-configmaps": bad.slice(0, 500).join() };
    const [entries] = workload({ annotations }).mistakes;
    expect(entries?.message).toMatch(
      /^500 entries of wave.pusher.com\/extra-configmaps are not valid names: "Bad_0_x{73}…", "Bad_1_x" and 498 more. Write name/,
    );
    const { mistakes } = workload({ annotations: { [optIn]: "true", ...Object.fromEntries(unknown.slice(0, 500)) } });
    expect(mistakes.map(({ message }) => message)).toEqual([
      expect.stringContaining('"wave.pusher.com/x-0" is unknown.'),
      expect.stringContaining('"wave.pusher.com/x-1" is unknown.'),
      expect.stringContaining('"wave.pusher.com/x-10" is unknown.'),
      "497 more Wave annotations of the workload are unknown.",
    ]);
  });

  it("quote control characters on one line", () => {
    const annotations = { [optIn]: "true", "wave.pusher.com/extra-secrets": "a\nb\u0007" };
    expect(workload({ annotations }).mistakes[0]?.message).toContain(String.raw`"a\nb\u0007"`);
  });
});
