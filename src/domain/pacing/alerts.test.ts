import { describe, expect, it } from "vitest";
import { defaultFlags, momentAt, noon, outdated, planned } from "../../../test/support/pacing/due.ts";
import type { Workload } from "../model/workload-shape.ts";
import { verdictOf } from "../plan/verdict.ts";
import { alertSinceRollout } from "./alerts.ts";
import type { Moment, NamespaceAlerts } from "./moment.ts";
import { rolloutResult, writeFailedAlert } from "./rollout-result.ts";
import { stageOf } from "./stage.ts";

const second = noon / 1000;
const flags = { ...defaultFlags, soakMs: 120_000 };
const progressing = { state: "progressing", step: 0, available: 1 } as const;

/** An alert that fires since so many milliseconds after noon. */
const fires = (sinceMs?: number, name = "Errors"): NamespaceAlerts => ({
  state: "firing",
  alerts: [{ name, since: sinceMs === undefined ? undefined : noon + sinceMs }],
});

/** Returns a workload that was rolled at noon and is complete since 10 s later. */
const rolled = (known: Partial<Workload> = {}): Workload =>
  outdated({ rolledAt: second, templateEditedAt: 0, progress: { state: "complete", since: second + 10 }, ...known });

const began = (known: Partial<Workload>, afterMs: number, alerts: NamespaceAlerts, moment: Partial<Moment> = {}) =>
  alertSinceRollout(rolled(known), flags, momentAt(noon + afterMs, { alerts, ...moment }));

describe("an alert that fires", () => {
  const later = momentAt(noon + 3_600_000, { alerts: fires(0) });

  it("holds a due rollout, and names itself and the command that goes past it", () => {
    expect(planned({ rolledAt: 0 }, later)).toMatchObject({
      outcome: "held",
      hold: {
        reason: "alert",
        message:
          'Rollout held: alert "Errors" fires in namespace "default". Continues when the alert is resolved. To roll now, run: wave roll deployment/web -n default.',
      },
    });
  });

  it("does not hold a rollout that a person requested. Its cause shows that it went past the alert", () => {
    const at = new Date(later.now - 1_000).toISOString();
    const policy = { "roll-requested": `${at} alice` } as const;
    expect(planned({ rolledAt: 0, policy }, later)).toMatchObject({ outcome: "roll", heldBy: "alert" });
  });

  it("does not hold the fix of a workload whose last rollout failed by it", () => {
    const before = rolled({ rolledAt: second });
    const failedAlert = writeFailedAlert(before, "Errors");
    expect(planned({ ...before, failedAlert }, later)).toMatchObject({ outcome: "roll", heldBy: "alert" });
  });

  it("does not go past a halt when a person requested the rollout", () => {
    const policy = { "roll-requested": `${new Date(later.now - 1_000).toISOString()} alice` } as const;
    const halted = { reason: "halted", message: "", until: undefined, warning: true } as const;
    expect(planned({ rolledAt: 0, policy }, later, {}, halted)).toMatchObject({ hold: { reason: "halted" } });
  });
});

it.each<readonly [string, NamespaceAlerts]>([
  ["an alert that fires", fires(0)],
  ["alerts that are not known", { state: "unknown", isRequired: true }],
])("a halted workload stays halted with %s, and one that waits for its batch is held", (_, alerts) => {
  const moment = momentAt(noon + 3_600_000, { alerts });
  const reasonWith = (reason: "halted" | "validator" | "batch") => {
    const plan = planned({ rolledAt: 0 }, moment, {}, { reason, message: "", until: undefined, warning: true });
    return plan.outcome === "held" ? plan.hold.reason : plan.outcome;
  };
  expect([reasonWith("halted"), reasonWith("validator")]).toEqual(["halted", "validator"]);
  expect(reasonWith("batch")).toBe(alerts.state === "firing" ? "alert" : "alertsUnknown");
});

describe("alerts that are not known yet", () => {
  it("hold a due rollout, with a Warning only if an answer is required", () => {
    const hold = (isRequired: boolean) =>
      planned({ rolledAt: 0 }, momentAt(noon, { alerts: { state: "unknown", isRequired } }));
    expect(hold(false)).toMatchObject({ hold: { reason: "alertsUnknown", warning: false } });
    expect(hold(true)).toMatchObject({ hold: { reason: "alertsUnknown", warning: true } });
  });
});

describe("an alert that begins", () => {
  it("is the failure of a rollout that is in progress or soaks, up to the end of the soak time", () => {
    expect(began({ progress: progressing }, 60_000, fires(1))).toBe("Errors");
    expect(began({}, 129_999, fires(1))).toBe("Errors");
    expect(began({}, 130_000, fires(1))).toBeUndefined();
  });

  it("is no failure of a rollout that started later, or of none", () => {
    expect(began({ progress: progressing }, 60_000, fires(0))).toBeUndefined();
    expect(began({ rolledAt: 0 }, 60_000, fires(1))).toBeUndefined();
    expect(began({ progress: { state: "idle" } }, 60_000, fires(1))).toBeUndefined();
    expect(began({ templateEditedAt: second + 1 }, 60_000, fires(1))).toBeUndefined();
  });

  it("is a failure if nothing is known of the time before, unless the rollout went past an alert", () => {
    expect(began({ progress: progressing }, 60_000, fires())).toBe("Errors");
    const { recordedHash = "" } = rolled();
    const hash = recordedHash.slice(recordedHash.indexOf(":") + 1).slice(0, 16);
    const cause = JSON.stringify({ hash, at: new Date(noon).toISOString(), why: "", heldBy: "alert" });
    expect(began({ progress: progressing, cause }, 60_000, fires())).toBeUndefined();
    expect(began({ progress: progressing, cause }, 60_000, fires(1))).toBe("Errors");
  });

  it("is no failure of a rollout of long ago, although a new leader measures the soak time again", () => {
    const complete = { state: "complete", since: undefined } as const;
    const start = 2 * flags.rolloutTimeoutMs + 1;
    expect(began({ progress: complete }, start, fires(start), { progressSince: noon + start })).toBeUndefined();
    expect(began({ progress: complete }, start - 1, fires(start), { progressSince: noon + start })).toBe("Errors");
  });
});

describe("a rollout that failed by an alert", () => {
  const failedAlert = writeFailedAlert(rolled(), "Errors");
  const now = noon + 3_600_000;
  const resultOf = (known: Partial<Workload>) =>
    rolloutResult(rolled({ failedAlert, ...known }), flags, momentAt(now, { alerts: { state: "none" } }));

  it("stays failed when the alert is resolved, although its Pods are available", () => {
    expect(resultOf({})).toEqual({ state: "failed", word: "alert", cause: 'alert "Errors" began to fire' });
    const verdict = verdictOf({ outcome: "current" } as never, resultOf({}), false);
    expect(verdict).toMatchObject({ state: "failed", reason: "alert" });
  });

  it("is over with the next rollout, with another pod template, and when a person resumes it", () => {
    expect(resultOf({ rolledAt: second + 1 })).toEqual({ state: "complete" });
    expect(resultOf({ recordedHash: "v1:0123456789abcdef" })).toEqual({ state: "complete" });
    expect(resultOf({ templateEditedAt: second + 1 })).toBeUndefined();
    expect(resultOf({ policy: { resumed: new Date(noon + 1_000).toISOString() } })).toEqual({ state: "complete" });
    expect(resultOf({ policy: { resumed: new Date(noon + 999).toISOString() } })).toMatchObject({ state: "failed" });
  });

  it("has a name that can be printed, whoever wrote the annotation", () => {
    for (const name of ["", "a\nb", "a\u001b[31m", "\u202e", "x".repeat(201)])
      expect(resultOf({ failedAlert: writeFailedAlert(rolled(), name) })).toEqual({ state: "complete" });
  });

  it("halts a change also after its canary has passed, until a person resumes it", () => {
    const workload = { ...rolled(), rolledAt: second + 1 };
    const facts = { workload, due: false, changedAt: noon, writtenAt: undefined, completeSince: undefined };
    const stage = (resumed: number | undefined) =>
      stageOf({ ...facts, resumed, failedAlert: true, soaked: true }, flags, now);
    expect(stage(undefined)).toEqual({ state: "failed", rolledAt: noon + 1_000, wasComplete: true, halts: true });
    expect(stage(noon + 2_000)).toEqual({ state: "passed" });
  });
});
