import { expect, it } from "vitest";
import { isOutcome, outcomes as notified } from "../../src/notify/notification/notification.ts";
import { catalogue } from "../../src/telemetry/catalogue.ts";

const counted: Readonly<Record<string, string>> = catalogue.workloads.outcomes.labels.outcome;

it("metrics, log, notifications and Events use the same names of outcomes", () => {
  // A bug has no Event. A conflict and an unanswered write are retried soon.
  const withoutEvent = ["conflict", "unavailable", "bug"];
  for (const [outcome, meaning] of Object.entries(counted)) {
    const reasons = Array.from(meaning.matchAll(/`([A-Z]\w+)`/g), ([, reason = ""]) => reason);
    if (withoutEvent.includes(outcome)) expect(reasons, outcome).toEqual([]);
    else expect(isOutcome(outcome), outcome).toBe(true);
    if (isOutcome(outcome)) expect(reasons, outcome).toEqual(expect.arrayContaining([...notified[outcome].reasons]));
  }
});
