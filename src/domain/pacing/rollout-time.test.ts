import { expect, it } from "vitest";
import { hasSoaked } from "./rollout-time.ts";

it.each([
  { completeMs: 0, soakMs: 0, soaked: false },
  { completeMs: 1, soakMs: 0, soaked: true },
  { completeMs: 999, soakMs: 1_000, soaked: false },
  { completeMs: 1_000, soakMs: 1_000, soaked: true },
])(
  "a rollout that was complete for $completeMs ms has soaked for $soakMs ms: $soaked",
  ({ completeMs, soakMs, soaked }) => {
    expect(hasSoaked(completeMs, soakMs)).toBe(soaked);
  },
);
