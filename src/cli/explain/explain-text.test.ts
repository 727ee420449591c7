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
  type WorkloadFixture,
  workload,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { directiveSourcesOf } from "../../domain/compatibility/directive-sources.ts";
import { readDirectives } from "../../domain/compatibility/directives.ts";
import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { invalidScheduler } from "../../domain/model/scheduling-hold.ts";
import { compatibilitySourceOf } from "../../domain/model/workload-references.ts";
import { unpaced } from "../../domain/policy/pacing-flags.ts";
import { explainWorkload } from "../cluster/explanation.ts";
import type { ReadConfig } from "../cluster/read-configs.ts";
import { printableJson } from "../output/printable.ts";
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
      keys: { state: "not asked for", why: "" },
      kinds: builtInKinds,
    },
    pods: { state: "read", of: () => new Map() },
    now: 0,
    batch: undefined,
    kubernetes: null,
    others: [],
    unnamed: undefined,
    gaps: [],
  });
}

/** Under every dialect, of what their annotations alone ask for. */
function explainedForeign(wanted: WorkloadFixture) {
  return explainWorkload({
    found: { object: peerObject(wanted), workload: peerWorkload(wanted) },
    read: new Map([["ConfigMap/default/page", page]]),
    policy: { ...allCompatibilities, pacing: unpaced, keys: { state: "not asked for", why: "" }, kinds: builtInKinds },
    pods: { state: "read", of: () => new Map() },
    now: 0,
    batch: undefined,
    kubernetes: null,
    others: [],
    unnamed: undefined,
    gaps: [],
  });
}

function rendered(...asked: Parameters<typeof explained>): string {
  return renderExplanation(explained(...asked));
}

it("is in lines of the terminal's width, each below its own, but for tables and what is copied", () => {
  const explanation = explained({
    annotations: {},
    pod: { containers: [{ name: "web", envFrom: [{ secretRef: { name: "db" } }] }] },
  });
  const long = { ...explanation, optIn: "out" as const, reason: "because of words ".repeat(20).trim() };
  const whole = renderExplanation(long).split("\n");
  const narrow = renderExplanation(long, undefined, 60).split("\n");
  const isLong = (text: string) => text.length > 60;
  const isCopied = (text: string) => text.startsWith("To opt in") || text.startsWith("Secret ");
  expect(narrow.filter(isLong)).toEqual(whole.filter(isCopied));
  const begin = narrow.findIndex((text) => text.startsWith("Why"));
  expect(narrow.slice(begin, begin + 3)).toEqual([
    "Why          because of words because of words because of",
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
  it("tells by which annotation of which compatibility each reference counts, where one is not Wave's", () => {
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
    expect(renderExplanation(explanation)).toMatch(/TRACKED BY .*\n.*stakater \(reloader\.stakater\.com\/search\)/);
    const own = explained({ pod: { containers } });
    expect(own.references[0]?.trackedBy).toEqual([
      { compatibility: "wave", by: "wave.pusher.com/update-on-config-change" },
    ]);
    expect(renderExplanation(own)).not.toContain("TRACKED BY");
  });

  it("tells of a flag by which a reference counts, and of none where it does not", () => {
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

  it("tells of a scheduling hold that stays closed while something is missing", () => {
    const text = rendered(schedulingHeld, { "ConfigMap/default/page": { state: "absent" } });
    expect(text).toContain("\nNow          Wave waits: its new Pods stay pending until nothing is missing\n");
    expect(text).toContain("\nNote\n  the scheduling hold is closed: its new Pods stay pending\n");
  });

  it("tells that a scheduling hold is opened, once nothing is missing or scheduling holds are off", () => {
    expect(rendered(schedulingHeld, { "ConfigMap/default/page": page })).toContain(
      "\nNow          Wave records the hash of its configuration and lets its Pods be scheduled\n",
    );
    expect(rendered(schedulingHeld, { "ConfigMap/default/page": { state: "absent" } }, false)).toContain(
      "\nNow          Wave lets its Pods be scheduled again, and rolls out nothing\n",
    );
  });

  it("says of a workload that reads nothing that it reads nothing", () => {
    const text = rendered({});
    expect(text).toContain("\nWhy          reads no configuration\n");
    expect(text).toContain("\nIt refers to no ConfigMap or Secret.\n");
  });

  it.each<{ wanted: WorkloadFixture; note: string }>([
    { wanted: { spec: { paused: true } }, note: "it is paused: Kubernetes replaces its Pods when it is resumed" },
    {
      wanted: { spec: { replicas: 0 } },
      note: "it is scaled to zero: there are no Pods to replace until it is scaled up",
    },
    {
      wanted: { kind: "StatefulSet", spec: { updateStrategy: { type: "OnDelete" } } },
      note: "its update strategy is OnDelete: Kubernetes replaces a Pod when it is deleted",
    },
    {
      wanted: { kind: "StatefulSet", spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } },
      note: "its partition is 2: Kubernetes does not replace the Pods of lower ordinal",
    },
  ])("notes that $note", ({ wanted, note }) => {
    expect(rendered(wanted)).toContain(`\nNote\n  ${note}\n`);
  });

  it("names a few of many keys, and how many more there are", () => {
    const items = ["a", "b", "c", "d", "e", "f"].map((key) => ({ key, path: key }));
    const text = rendered(
      { pod: { volumes: [{ name: "page", configMap: { name: "page", items } }] } },
      { "ConfigMap/default/page": page },
    );
    expect(text).toMatch(/^ConfigMap page {2}lacks b,c,d,e \+1 {2}a,b,c,d \+2 {2}files {2}required/m);
  });

  it("holds no character that a terminal obeys, though a pod spec may name an object by any", () => {
    const name = "\u001b[2Jgone\u202e\n\u0085";
    const text = rendered({ pod: { volumes: [{ name: "v", secret: { secretName: name } }] } });
    expect(text).toContain("Secret \\u{1b}[2Jgone\\u{202e}\\u{a}\\u{85}  absent");
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it("holds none as JSON either, and is the same when it is read", () => {
    const name = "\u001b[2Jgone\u202e\n\u0085\u007f\u{e0041}";
    const explanation = explained({ pod: { volumes: [{ name: "v", secret: { secretName: name } }] } });
    const json = printableJson(explanation);
    expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(json).references[0].name).toBe(name);
  });
});

describe("a workload beyond a budget", () => {
  const env = Array.from({ length: 6000 }, (_, i) => ({
    name: `V${i}`,
    valueFrom: { configMapKeyRef: { name: "page", key: `k${i}` } },
  }));
  const pod = { containers: [{ name: "web", env }] };

  it.each([
    ["that has opted in", {}, /^Now +Wave leaves it alone: it is too large.*\nWhy +has 6,000 places .*, 1,000 more/m],
    ["that has not", { "wave.pusher.com/update-on-config-change": "false" }, /^Now +Wave leaves it alone$/m],
  ])("%s is told without a list of what it names", (_, annotations, text) => {
    const out = rendered({ pod, annotations });
    expect(out).toMatch(text);
    // Once, whether it is why or beside why.
    expect(out).toMatch(/\nIt is too large to be listed[.:]/);
    expect(
      out
        .split("\n\n")
        .slice(0, 3)
        .join()
        .match(/6,000 places/g),
    ).toHaveLength(1);
    expect(out.length).toBeLessThan(2000);
  });
});
