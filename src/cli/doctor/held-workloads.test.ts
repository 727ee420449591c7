import { describe, expect, it } from "vitest";
import type { HoldReason } from "../../domain/decision/hold.ts";
import { heldFindings } from "./held-workloads.ts";

const workload = { kind: "Deployment", namespace: "shop", name: "web" } as const;
const day = 86_400_000;

function told(reason: HoldReason, forMs: number): readonly string[] {
  const hold = { reason, message: "it is held", until: null };
  const found = heldFindings({ workload, hold, message: "it is held", reason: "why" }, forMs);
  return found.map(({ severity, what, fix }) => `${severity}: ${what} → ${fix}`);
}

describe("what is held", () => {
  it("is told at once where only a person ends it whom nobody asked", () => {
    expect(told("halted", 0)).toEqual([
      "problem: it is held → mend what changed, or what failed; only where both are right: wave resume deployment/web -n shop",
    ]);
    expect(told("reverted", 0)).toHaveLength(1);
  });

  it("is told after a day where somebody asked for it and may have forgotten", () => {
    expect(told("hold", day - 1)).toEqual([]);
    expect(told("hold", day)).toEqual(["warning: it is held, for 24h → wave release deployment/web -n shop"]);
    expect(told("approval", 3 * day)).toEqual(["warning: it is held, for 3d → wave approve deployment/web -n shop"]);
  });

  it("is not told where it ends by itself in time, nor where nobody knows since when", () => {
    expect(told("window", 7 * day)).toEqual([]);
    expect(told("window", 9 * day)).toHaveLength(1);
    expect(told("batch", 60_000)).toEqual([]);
    expect(told("hold", Number.NaN)).toEqual([]);
    expect(told("observed", 100 * day)).toEqual([]);
  });

  it("is left to the check of annotations where one of them cannot be read", () => {
    expect(told("invalid", 0)).toEqual([]);
  });
});
