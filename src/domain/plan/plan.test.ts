import { describe, expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  secret,
  type WorkloadFixture,
  workload,
} from "../../../test/support/domain/objects.ts";
import { type Config, withoutKeys } from "../config/digest.ts";
import { type ConfigView, viewOf } from "../config/hash.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import type { RolloutPlan } from "../outcomes/outcomes.ts";
import type { Policy } from "../policy/policy.ts";

const optIn = "wave.pusher.com/update-on-config-change";
const schedulingHold = "wave.pusher.com/scheduling-disabled";
const pod = readsAll("ConfigMap", "web");
const web = configMap("web", { "index.html": "hello" });
const edited = configMap("web", { "index.html": "goodbye" });

function plan(
  wanted: WorkloadFixture,
  configs: readonly Config[],
  policy: Partial<Policy> = {},
  previous?: ConfigView,
): RolloutPlan {
  return planRollout(workload(wanted), lookupOf(...configs), { ...defaultPolicy, ...policy }, previous);
}

function viewOfPlan(decided: RolloutPlan): ConfigView {
  return "view" in decided ? decided.view : viewOf([]);
}

const seen = viewOfPlan(plan({ pod }, [web]));
const recorded = { "wave.pusher.com/config-hash": seen.hash };
const schedulingHeld = { ...pod, schedulerName: invalidScheduler };

interface PlanCase {
  readonly when: string;
  readonly wanted: WorkloadFixture;
  readonly configs?: readonly Config[];
  readonly policy?: Partial<Policy>;
  readonly outcome: RolloutPlan["outcome"];
  readonly reason: string | RegExp;
}

const rows: readonly PlanCase[] = [
  {
    when: "it has not opted in",
    wanted: { pod, annotations: { [optIn]: undefined } },
    outcome: "ignore",
    reason: /not opted in/,
  },
  {
    when: "its opt-in is unclear",
    wanted: { pod, annotations: { [optIn]: "yes" } },
    outcome: "ignore",
    reason: /Write "true" to opt in/,
  },
  {
    when: "it is being deleted",
    wanted: { pod, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
    outcome: "ignore",
    reason: /deleted/,
  },
  {
    when: "its namespace is not watched",
    wanted: { pod },
    policy: { namespaces: ["other"] },
    outcome: "ignore",
    reason: /^Wave does not watch namespace "default"$/,
  },
  {
    when: "its namespace is not watched and it has a scheduling hold",
    wanted: { pod: schedulingHeld },
    policy: { namespaces: ["other"] },
    outcome: "ignore",
    reason: /does not watch/,
  },
  {
    when: "its namespace is watched",
    wanted: { pod },
    policy: { namespaces: ["default"] },
    outcome: "firstHash",
    reason: /no hash is recorded/,
  },
  { when: "no hash is recorded", wanted: { pod }, outcome: "firstHash", reason: /no hash is recorded/ },
  {
    when: "the hash is of another algorithm",
    wanted: { pod, templateAnnotations: { "wave.pusher.com/config-hash": seen.hash.slice(3) } },
    outcome: "firstHash",
    reason: /another algorithm/,
  },
  {
    when: "the key of the hash is unknown",
    wanted: { pod, templateAnnotations: { "wave.pusher.com/config-hash": `v2-0123abcd:${"0".repeat(64)}` } },
    outcome: "recorded",
    reason: /made with key 0123abcd, which Wave does not have/,
  },
  {
    when: "the hash is current",
    wanted: { pod, templateAnnotations: recorded },
    outcome: "current",
    reason: /current/,
  },
  { when: "it reads nothing", wanted: {}, outcome: "current", reason: /reads no configuration/ },
  {
    when: "configuration changed",
    wanted: { pod, templateAnnotations: recorded },
    configs: [edited],
    outcome: "roll",
    reason: /changed/,
  },
  {
    when: "configuration is missing",
    wanted: { pod, templateAnnotations: recorded },
    configs: [],
    outcome: "waiting",
    reason: 'waiting for ConfigMap "web"',
  },
  {
    when: "optional configuration is missing",
    wanted: { pod: readsAll("Secret", "db", true) },
    configs: [],
    outcome: "firstHash",
    reason: /no hash/,
  },
  {
    when: "it has a scheduling hold and nothing is missing",
    wanted: { pod: schedulingHeld, annotations: { [schedulingHold]: "" } },
    outcome: "firstHash",
    reason: /^the configuration is complete and the scheduling hold is removed$/,
  },
  {
    when: "it has a scheduling hold and has the current hash",
    wanted: { pod: schedulingHeld, annotations: { [schedulingHold]: "" }, templateAnnotations: recorded },
    outcome: "firstHash",
    reason: /complete/,
  },
  {
    when: "it has a scheduling hold and has an older hash",
    wanted: { pod: schedulingHeld, annotations: { [schedulingHold]: "" }, templateAnnotations: recorded },
    configs: [edited],
    outcome: "roll",
    reason: /complete/,
  },
  {
    when: "it has a scheduling hold and reads nothing",
    wanted: { pod: { schedulerName: invalidScheduler } },
    outcome: "firstHash",
    reason: /complete/,
  },
  {
    when: "its scheduling hold lost the annotation",
    wanted: { pod: schedulingHeld, templateAnnotations: recorded },
    outcome: "firstHash",
    reason: /complete/,
  },
  {
    when: "its scheduling hold lost the scheduler",
    wanted: { pod, annotations: { [schedulingHold]: "" }, templateAnnotations: recorded },
    outcome: "firstHash",
    reason: /complete/,
  },
  {
    when: "it has a scheduling hold and opted out",
    wanted: { pod: schedulingHeld, annotations: { [schedulingHold]: "", [optIn]: "false" } },
    outcome: "cleanUp",
    reason: /opted out/,
  },
  {
    when: "it has a scheduling hold without annotation and opted out",
    wanted: { pod: schedulingHeld, annotations: { [optIn]: undefined } },
    outcome: "cleanUp",
    reason: /opted out/,
  },
  {
    when: "it has a scheduling hold, incomplete, and scheduling holds are off",
    wanted: { pod: schedulingHeld, annotations: { [schedulingHold]: "" } },
    configs: [],
    policy: { schedulingHold: false },
    outcome: "cleanUp",
    reason: /scheduling holds are off; waiting for ConfigMap "web"/,
  },
  {
    when: "it has a scheduling hold, complete, and scheduling holds are off",
    wanted: { pod: schedulingHeld, annotations: { [schedulingHold]: "" } },
    policy: { schedulingHold: false },
    outcome: "firstHash",
    reason: /complete/,
  },
  {
    when: "it is paused",
    wanted: { pod, spec: { paused: true }, templateAnnotations: recorded },
    configs: [edited],
    outcome: "roll",
    reason: /changed/,
  },
  {
    when: "it is scaled to zero",
    wanted: { pod, spec: { replicas: 0 }, templateAnnotations: recorded },
    configs: [edited],
    outcome: "roll",
    reason: /changed/,
  },
  {
    when: "it is updated OnDelete",
    wanted: { kind: "StatefulSet", pod, spec: { updateStrategy: { type: "OnDelete" } }, templateAnnotations: recorded },
    configs: [edited],
    outcome: "roll",
    reason: /changed/,
  },
];

describe("planRollout", () => {
  it.each(rows)("returns $outcome if $when", ({ wanted, configs = [web], policy, outcome, reason }) => {
    const decided = plan(wanted, configs, policy);
    expect(decided.outcome).toBe(outcome);
    expect(decided.reason).toMatch(reason);
    expect(decided.reason).not.toContain("\n");
  });

  it("has every outcome in this table", () => {
    const all: RolloutPlan["outcome"][] = ["ignore", "current", "firstHash", "recorded", "roll", "waiting", "cleanUp"];
    expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(all));
  });

  it("names the changes if the previous view belongs to the recorded hash", () => {
    const decided = plan({ pod, templateAnnotations: recorded }, [edited], {}, seen);
    expect(decided).toMatchObject({
      outcome: "roll",
      changed: [{ kind: "ConfigMap", name: "web", keys: ["index.html"] }],
    });
    expect(decided.reason).toBe('ConfigMap "web" changed (key "index.html")');
  });

  it("does not name changes if the previous view belongs to another hash", () => {
    const decided = plan({ pod, templateAnnotations: recorded }, [edited], {}, viewOf([]));
    expect(decided).toMatchObject({
      outcome: "roll",
      changed: undefined,
      reason: "the configuration changed after its hash was recorded",
    });
  });

  it("rolls to a hash that is current afterwards", () => {
    const decided = plan({ pod, templateAnnotations: recorded }, [edited]);
    const next = { "wave.pusher.com/config-hash": decided.outcome === "roll" ? decided.hash : "" };
    expect(plan({ pod, templateAnnotations: next }, [edited]).outcome).toBe("current");
  });

  it("names everything that is missing, and whether new Pods are pending", () => {
    const both = {
      containers: [{ name: "web", envFrom: [{ secretRef: { name: "db" } }, { configMapRef: { name: "web" } }] }],
    };
    const missing = [
      { kind: "ConfigMap", namespace: "default", name: "web" },
      { kind: "Secret", namespace: "default", name: "db" },
    ];
    expect(plan({ pod: both }, [])).toMatchObject({ outcome: "waiting", missing, schedulingHold: "open" });
    const held = { ...both, schedulerName: invalidScheduler };
    expect(plan({ pod: held, annotations: { [schedulingHold]: "" } }, [])).toMatchObject({
      missing,
      schedulingHold: "closed",
    });
  });

  it("rolls once when an optional object is added, and once when it is removed", () => {
    const optional = { pod: readsAll("Secret", "db", true) };
    const absent = viewOfPlan(plan(optional, []));
    const there = secret("db", { password: "1" });
    const present = viewOfPlan(plan(optional, [there]));
    const with_ = (hash: string): WorkloadFixture => ({
      ...optional,
      templateAnnotations: { "wave.pusher.com/config-hash": hash },
    });
    expect(plan(with_(absent.hash), [there], {}, absent).reason).toBe('Secret "db" was added');
    expect(plan(with_(present.hash), [], {}, present).reason).toBe('Secret "db" was removed');
    expect(plan(with_(absent.hash), []).outcome).toBe("current");
    expect(plan(with_(absent.hash), [secret("db", {})]).outcome).toBe("current");
  });

  it("warns about an unclear opt-in, and about mistakes of any workload", () => {
    const unclear = plan({ annotations: { [optIn]: "yes" } }, []);
    expect(unclear.warnings).toMatchObject([
      { reason: "InvalidAnnotation", message: expect.stringContaining('"yes"') },
    ]);
    expect(plan({ annotations: { [optIn]: undefined, "wave.pusher.com/x": "" } }, []).warnings).toHaveLength(1);
    expect(plan({ annotations: { "wave.pusher.com/x": "" } }, []).warnings).toHaveLength(1);
    expect(plan({ annotations: { [optIn]: "false" } }, []).warnings).toEqual([]);
  });
});

it("plans over limit if the caches keep only the name of an object, because its namespace is full", () => {
  const limitExceeded = { limit: "namespace", count: 21 } as const;
  expect(plan({ pod }, [withoutKeys(web, limitExceeded)])).toMatchObject({ outcome: "overLimit", limitExceeded });
});
