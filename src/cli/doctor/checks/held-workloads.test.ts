import { describe, expect, it } from "vitest";
import type { HoldReason } from "../../../domain/outcomes/outcomes.ts";
import { haltFindings, heldFindings } from "./held-workloads.ts";

const workload = { kind: "Deployment", namespace: "shop", name: "web" } as const;
const day = 86_400_000;

function findings(reason: HoldReason, forMs: number): readonly string[] {
  const hold = { reason, message: "It is held.", until: null };
  const found = heldFindings({ workload, hold, message: "It is held.", reason: "why" }, forMs);
  return found.map(({ severity, what, fix }) => `${severity}: ${what} → ${fix}`);
}

describe("a held workload", () => {
  it("is reported at once if only a person can end the hold", () => {
    expect(findings("reverted", 0)).toHaveLength(1);
  });

  it("is reported after a day if a person asked for the hold and may have forgotten it", () => {
    expect(findings("hold", day - 1)).toEqual([]);
    expect(findings("hold", day)).toEqual(["warning: It is held. Due for 24h. → wave explain deployment/web -n shop"]);
    expect(findings("approval", 3 * day)).toEqual([
      "warning: It is held. Due for 3d. → wave explain deployment/web -n shop",
    ]);
  });

  it("is not reported if the hold ends by itself in time, or if its start is unknown", () => {
    expect(findings("window", 7 * day)).toEqual([]);
    expect(findings("window", 9 * day)).toHaveLength(1);
    expect(findings("batch", 60_000)).toEqual([]);
    expect(findings("hold", Number.NaN)).toEqual([]);
    expect(findings("observed", 100 * day)).toEqual([]);
  });

  it("is left to the check of annotations if an annotation is invalid", () => {
    expect(findings("invalid", 0)).toEqual([]);
  });
});

describe("a halted rollout", () => {
  const halted = (name: string, object: string) => ({
    workload: { kind: "Deployment", namespace: "shop", name } as const,
    hold: {
      reason: "halted" as const,
      message: `Workloads failed after ConfigMap "${object}" changed.`,
      until: null,
      object: { kind: "ConfigMap", namespace: "shop", name: object } as const,
    },
  });

  it("is one problem for each changed object, however many workloads it halts", () => {
    const workloads = Array.from({ length: 9 }, (_, at) => halted(`a${at}`, "page"));
    expect(haltFindings([...workloads, halted("b", "logo")])).toMatchObject([
      {
        severity: "problem",
        where: { kind: "ConfigMap", namespace: "shop", name: "page" },
        what: expect.stringMatching(/changed\. 9 workloads are halted: deployment\/a0, .* and 4 more\.$/),
        fix: "Fix configmap/page in shop or the failed workloads. Only if both are correct: wave resume configmap/page -n shop",
      },
      {
        where: { kind: "ConfigMap", namespace: "shop", name: "logo" },
        what: expect.stringContaining("1 workload is halted"),
      },
    ]);
    expect(findings("halted", 0)).toEqual([]);
  });
});
