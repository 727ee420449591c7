import { expect, it } from "vitest";
import { diffMarkdown } from "./diff-markdown.ts";
import type { WorkloadDifference } from "./workload-difference.ts";

const workload = (name: string, keys: readonly string[]): WorkloadDifference => ({
  kind: "Deployment",
  namespace: "shop",
  name,
  effect: "roll",
  batch: 1,
  reason: "x".repeat(700),
  changes: [{ kind: "ConfigMap", namespace: "shop", name: "page", how: "changed", keys }],
  hold: null,
  notes: [],
});

it("stays within the limit of GitHub, and counts the rows that it leaves out", () => {
  const keys = Array.from({ length: 500 }, (_, index) => `key-${"y".repeat(200)}-${index}`);
  const many = Array.from({ length: 3_000 }, (_, index) => workload(`web-${index}`, keys));
  const text = diffMarkdown({ workloads: many, notes: Array.from({ length: 1_000 }, () => "n".repeat(300)) });
  expect(text.length).toBeLessThan(65_536);
  const rows = text.match(/^\| 1 \|/gm)?.length ?? 0;
  expect(rows).toBeGreaterThan(0);
  expect(text).toContain(`… and ${(3_000 - rows).toLocaleString("en")} more.`);
  expect(text).toContain(" and 480 more");
});

it("reports in one line that no workload is affected", () => {
  expect(diffMarkdown({ workloads: [], notes: [] })).toBe("**Wave:** No workload is affected.\n");
});
