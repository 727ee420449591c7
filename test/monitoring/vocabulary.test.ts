import { expect, it } from "vitest";
import { isOutcome, outcomes as notified } from "../../src/notify/notification/outcomes.ts";
import { catalogue } from "../../src/telemetry/catalogue.ts";

const counted: Readonly<Record<string, string>> = catalogue.workloads.outcomes.labels.outcome;

it("metrics, log, notifications and Events call what came of a workload by the same words", () => {
  // A bug has no Event; a conflict and an unanswered write are tried again before anybody could read one.
  const ownersNeverHear = ["conflict", "unavailable", "bug"];
  for (const [outcome, meaning] of Object.entries(counted)) {
    const reasons = Array.from(meaning.matchAll(/`([A-Z]\w+)`/g), ([, reason = ""]) => reason);
    if (ownersNeverHear.includes(outcome)) expect(reasons, outcome).toEqual([]);
    else expect(isOutcome(outcome), outcome).toBe(true);
    if (isOutcome(outcome)) expect(reasons, outcome).toEqual(expect.arrayContaining([...notified[outcome].reasons]));
  }
});
