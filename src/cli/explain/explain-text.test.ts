import { describe, expect, it } from "vitest";
import {
  allCompatibilities,
  peerObject,
  peerWorkload,
  settingsWith,
} from "../../../test/support/domain/compatibility.ts";
import {
  configMap,
  defaultPolicy,
  unpaced,
  type WorkloadFixture,
  workload,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { readDirectives } from "../../domain/compatibility/directives.ts";
import { directiveSourcesOf } from "../../domain/compatibility/stakater-directives.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { invalidScheduler } from "../../domain/model/scheduling-hold.ts";
import { compatibilitySourceOf } from "../../domain/model/workload-references.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation/explanation.ts";
import type { ReadConfig } from "../cluster/read/configs.ts";
import { printableJson } from "../output/table.ts";
import { renderExplanation } from "./explain-text.ts";

const page: ReadConfig = { state: "present", config: configMap("page", { a: "1" }) };

function explained(wanted: WorkloadFixture, read: Readonly<Record<string, ReadConfig>> = {}, schedulingHold = true) {
  return explainWorkload({
    found: { object: workloadObject(wanted), workload: workload(wanted) },
    read: new Map(Object.entries(read)),
    policy: {
      ...defaultPolicy,
      schedulingHold,
      pacing: unpaced,
      keys: { state: "not requested", why: "" },
      kinds: builtInKinds,
    },
    pods: { state: "read", of: () => [], terminating: () => [] },
    now: 0,
    batch: undefined,
    kubernetes: null,
    others: [],
    unnamed: undefined,
    gaps: [],
  });
}

/** Returns an explanation with the annotations of all controllers. */
function explainedForeign(wanted: WorkloadFixture) {
  return explainWorkload({
    found: { object: peerObject(wanted), workload: peerWorkload(wanted) },
    read: new Map([["ConfigMap/default/page", page]]),
    policy: { ...allCompatibilities, pacing: unpaced, keys: { state: "not requested", why: "" }, kinds: builtInKinds },
    pods: { state: "read", of: () => [], terminating: () => [] },
    now: 0,
    batch: undefined,
    kubernetes: null,
    others: [],
    unnamed: undefined,
    gaps: [],
  });
}

function rendered(...asked: Parameters<typeof explained>): string {
  return renderExplanation(explained(...asked), { now: 0 });
}

it("wraps sentences at the width of the terminal, but no tables and no commands to copy", () => {
  const explanation = explained({
    annotations: {},
    pod: { containers: [{ name: "web", envFrom: [{ secretRef: { name: "db" } }] }] },
  });
  const long = { ...explanation, optIn: "out" as const, reason: "because of words ".repeat(20).trim() };
  const whole = renderExplanation(long, { now: 0 }).split("\n");
  const narrow = renderExplanation(long, { now: 0, width: 60 }).split("\n");
  const isLong = (text: string) => text.length > 60;
  const isCopied = (text: string) => text.startsWith("To opt in") || text.startsWith("Secret ");
  expect(narrow.filter(isLong)).toEqual(whole.filter(isCopied));
  const begin = narrow.findIndex((text) => text.startsWith("Why"));
  expect(narrow.slice(begin, begin + 3)).toEqual([
    "Why          Because of words because of words because of",
    "             words because of words because of words because",
    "             of words because of words because of words",
  ]);
});

const schedulingHeld: WorkloadFixture = {
  annotations: { "wave.pusher.com/scheduling-disabled": "" },
  pod: {
    schedulerName: invalidScheduler,
    containers: [{ name: "web", envFrom: [{ configMapRef: { name: "page" } }] }],
  },
};

describe("the text of an explanation", () => {
  it("advises to opt in only a workload that Wave ignores for this reason", () => {
    const fixture: WorkloadFixture = { annotations: { "wave.pusher.com/update-on-config-change": "true" } };
    const ignored = { ...explained(fixture), state: "ignored" as const, optIn: "in" as const };
    expect(renderExplanation(ignored, { now: 0 })).not.toContain("To opt in");
    expect(renderExplanation({ ...ignored, optIn: "unclear" }, { now: 0 })).toContain("To opt in");
  });

  it("shows which annotation of which controller leads to each reference", () => {
    const { pod } = schedulingHeld;
    const containers = pod?.containers ?? [];
    const annotations = {
      "reloader.stakater.com/search": "true",
      "secret.reloader.stakater.com/auto": "true",
      "secret.reloader.stakater.com/reload": "db",
      "pod-reloader.cs.sap.com/secrets": "db",
    };
    const explanation = explainedForeign({ pod: { containers }, annotations });
    expect(explanation.compatibility).toEqual(["sap", "stakater"]);
    expect(explanation.references.map(({ name, trackedBy }) => ({ name, trackedBy }))).toEqual([
      { name: "page", trackedBy: [{ compatibility: "stakater", by: "reloader.stakater.com/search" }] },
      { name: "db", trackedBy: [{ compatibility: "sap", by: "pod-reloader.cs.sap.com/secrets" }] },
      { name: "db", trackedBy: [{ compatibility: "stakater", by: "secret.reloader.stakater.com/reload" }] },
    ]);
    expect(renderExplanation(explanation, { now: 0 })).toMatch(
      /TRACKED BY .*\n.*stakater \(reloader\.stakater\.com\/search\)/,
    );
    const own = explained({ pod: { containers } });
    expect(own.references[0]?.trackedBy).toEqual([
      { compatibility: "wave", by: "wave.pusher.com/update-on-config-change" },
    ]);
    expect(renderExplanation(own, { now: 0 })).not.toContain("TRACKED BY");
  });

  it("shows the flag that leads to a reference, and no flag if the reference is not tracked", () => {
    const { pod } = schedulingHeld;
    const wanted = { pod: { containers: pod?.containers ?? [] } };
    expect(explainedForeign(wanted)).toMatchObject({ compatibility: [], references: [{ trackedBy: [] }] });
    const flagged = { ...allCompatibilities, compatibility: settingsWith({ autoReloadAll: true }) };
    const source = compatibilitySourceOf(peerObject(wanted));
    const [reference] = peerWorkload(wanted, flagged).references;
    if (reference === undefined) throw new Error("refers to nothing");
    expect(directiveSourcesOf(reference, source, readDirectives(source, flagged), flagged.compatibility)).toEqual([
      { compatibility: "stakater", by: "--auto-reload-all" },
    ]);
  });

  it("reports a scheduling hold that is closed while something is missing", () => {
    const text = rendered(schedulingHeld, { "ConfigMap/default/page": { state: "absent" } });
    expect(text).toContain("\nNow          Waiting. New Pods stay pending until nothing is missing.\n");
    expect(text).toContain("\nNotes:\n  The workload has a scheduling hold. New Pods stay pending.\n");
  });

  it("reports that the scheduling hold opens when nothing is missing, or when scheduling holds are off", () => {
    expect(rendered(schedulingHeld, { "ConfigMap/default/page": page })).toContain(
      "\nNow          Wave records the first hash and schedules the pending Pods.\n",
    );
    expect(rendered(schedulingHeld, { "ConfigMap/default/page": { state: "absent" } }, false)).toContain(
      "\nNow          Wave schedules the pending Pods again, without a rollout.\n",
    );
  });

  it("reports what Wave cleans up without a rollout: the pause of Reloader, or what is left of a scheduling hold", () => {
    const nowOf = (explanation: Explanation) => /^Now +(.*)$/m.exec(renderExplanation(explanation, { now: 0 }))?.[1];
    const paused = explainedForeign({
      annotations: { "reloader.stakater.com/auto": "true", "deployment.reloader.stakater.com/paused-at": "2026-01-01" },
      spec: { paused: true },
    });
    expect(paused.outcome).toBe("cleanUp");
    expect(nowOf(paused)).toBe("Wave resumes the Deployment, which another controller left paused.");
    const annotations = { "wave.pusher.com/update-on-config-change": undefined };
    const left = { annotations: { ...annotations, "wave.pusher.com/scheduling-disabled": "default-scheduler" } };
    expect(nowOf(explained(left))).toBe("Wave removes the annotation of a scheduling hold, without a rollout.");
  });

  it("does not promise new Pods if a setting of the workload keeps all of them", () => {
    const reads: WorkloadFixture = {
      templateAnnotations: { "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}` },
      ...(schedulingHeld.pod && { pod: { containers: schedulingHeld.pod.containers ?? [] } }),
    };
    const found = { "ConfigMap/default/page": page };
    expect(rendered(reads, found)).toContain(
      "\nNow          Wave rolls this workload. Kubernetes replaces the Pods.\n",
    );
    expect(rendered({ ...reads, spec: { paused: true } }, found)).toContain(
      "\nNow          Wave updates the hash, but no Pod is replaced yet. The workload is paused. Kubernetes replaces the Pods after it is resumed.\n",
    );
  });

  it("reports a workload without references", () => {
    const text = rendered({});
    expect(text).toContain("\nWhy          The workload reads no configuration.\n");
    expect(text).toContain("\nReferences: no ConfigMap or Secret.\n");
  });

  it.each<{ wanted: WorkloadFixture; note: string }>([
    {
      wanted: { spec: { paused: true } },
      note: "The workload is paused. Kubernetes replaces the Pods after it is resumed.",
    },
    {
      wanted: { spec: { replicas: 0 } },
      note: "The workload is scaled to zero. There are no Pods to replace.",
    },
    {
      wanted: { kind: "StatefulSet", spec: { updateStrategy: { type: "OnDelete" } } },
      note: "The update strategy is OnDelete. Kubernetes replaces a Pod after you delete it.",
    },
    {
      wanted: { kind: "StatefulSet", spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } },
      note: "The partition is 2. Kubernetes does not replace Pods with a lower ordinal.",
    },
  ])("notes that $note", ({ wanted, note }) => {
    expect(rendered(wanted)).toContain(`\nNotes:\n  ${note}\n`);
  });

  it("names the first of many keys and the number of the others", () => {
    const items = ["a", "b", "c", "d", "e", "f"].map((key) => ({ key, path: key }));
    const text = rendered(
      { pod: { volumes: [{ name: "page", configMap: { name: "page", items } }] } },
      { "ConfigMap/default/page": page },
    );
    expect(text).toMatch(/^ConfigMap page {2}lacks b,c,d,e \+1 {2}a,b,c,d \+2 {2}files {4}required/m);
  });

  it("escapes control characters in the name of an object", () => {
    const name = "\u001b[2Jgone\u202e\n\u0085";
    const text = rendered({ pod: { volumes: [{ name: "v", secret: { secretName: name } }] } });
    expect(text).toContain("Secret \\u{1b}[2Jgone\\u{202e}\\u{a}\\u{85}  absent");
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it("escapes control characters in JSON, which a program reads unchanged", () => {
    const name = "\u001b[2Jgone\u202e\n\u0085\u007f\u{e0041}";
    const explanation = explained({ pod: { volumes: [{ name: "v", secret: { secretName: name } }] } });
    const json = printableJson(explanation);
    expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(json).references[0].name).toBe(name);
  });
});

it("a rollout is held by an alert only if the leader publishes that hold, and not a rollout that an alert made fail", () => {
  const pod = { containers: [{ name: "web", envFrom: [{ configMapRef: { name: "page" } }] }] };
  const since = "1970-01-01T00:00:00Z";
  const holdOf = (state: string, reason: string) => {
    const annotations = { "wave.pusher.com/state": JSON.stringify({ state, reason, since }) };
    const templateAnnotations = { "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}` };
    return explained({ pod, annotations, templateAnnotations }, { "ConfigMap/default/page": page }).hold?.reason;
  };
  expect(holdOf("held", "alert")).toBe("alert");
  expect(holdOf("held", "alertsUnknown")).toBe("alertsUnknown");
  expect(holdOf("failed", "alert")).toBeUndefined();
  expect(holdOf("held", "batch")).toBeUndefined();
});

describe("a workload over a limit", () => {
  const env = Array.from({ length: 6000 }, (_, i) => ({
    name: `V${i}`,
    valueFrom: { configMapKeyRef: { name: "page", key: `k${i}` } },
  }));
  const pod = { containers: [{ name: "web", env }] };

  it.each([
    ["that has opted in", {}, /^Now +Over a limit\. .*\nWhy +.*6,000 places /m],
    ["that has not", { "wave.pusher.com/update-on-config-change": "false" }, /^Now +Wave ignores this workload\.$/m],
  ])("%s is explained without its references", (_, annotations, text) => {
    const out = rendered({ pod, annotations });
    expect(out).toMatch(text);
    // Once: in the reason, or beside the table.
    expect(out).toMatch(/\nReferences are not listed: too many\./);
    expect(
      out
        .split("\n\n")
        .filter((block) => !block.startsWith("Warnings"))
        .join()
        .match(/6,000 places/g),
    ).toHaveLength(1);
    expect(out.length).toBeLessThan(2000);
  });
});
