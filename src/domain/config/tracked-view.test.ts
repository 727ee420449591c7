import { describe, expect, it } from "vitest";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  type WorkloadFixture,
  workload,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import { rulesFor } from "../policy/rules.ts";
import type { Config } from "./digest.ts";
import type { ConfigView } from "./hash.ts";
import { classConfig, recordedClassesOf, versionsKey } from "./recorded-digests.ts";
import { trackedReferences } from "./tracked-references.ts";
import { membershipChange, type TrackedViews, trackedViews, underCurrentKey } from "./tracked-view.ts";

const pod = { containers: [{ name: "web", envFrom: ["a", "b"].map((name) => ({ configMapRef: { name } })) }] };
const ignore = { annotations: { "wave.pusher.com/ignore": "true" } };
const a = configMap("a", { key: "1" });
const b = configMap("b", { key: "1" });
const bIgnored = configMap("b", { key: "1" }, ignore);
const bEditedAndIgnored = configMap("b", { key: "2" }, ignore);

function viewsOf(fixture: WorkloadFixture, configs: readonly Config[], keys = testKeys(1)): TrackedViews {
  const reader = workload(fixture);
  const classes = recordedClassesOf(reader, lookupOf(...configs));
  return trackedViews(trackedReferences(reader, classes.lookup, rulesFor(reader, defaultPolicy)), keys, classes);
}

const all = viewsOf({ pod }, [a, b]);
const onlyA = viewsOf({ pod }, [a, bIgnored]);

/** A workload with this hash and this recorded configuration. */
function recorded(hash: string | undefined, config?: string): WorkloadFixture {
  return {
    pod,
    ...(hash !== undefined && { templateAnnotations: { "wave.pusher.com/config-hash": hash } }),
    annotations: config === undefined ? {} : { "wave.pusher.com/recorded-config": config },
  };
}

const [hashOfAll, hashOfA] = [all.tracked.hash, onlyA.tracked.hash];
const other = `v2:${"0".repeat(64)}`;

describe("trackedViews", () => {
  it.each<[string, readonly Config[], readonly string[], readonly string[], boolean]>([
    ["all objects are tracked", [a, b], ["a", "b"], ["a", "b"], false],
    ["an object is ignored", [a, bIgnored], ["a"], ["a", "b"], true],
    ["an ignored object has no keys", [a, configMap("b", {}, ignore)], ["a"], ["a"], false],
    ["no object exists", [], [], [], false],
  ])("contain tracked and untracked objects if %s", (_, configs, tracked, full, hasFullHash) => {
    const views = viewsOf({ pod }, configs);
    expect(views.tracked.entries.map(({ name }) => name)).toEqual(tracked);
    expect(views.full?.entries.map(({ name }) => name)).toEqual(full);
    expect(views.tracked.fullHash).toBe(hasFullHash ? views.full?.hash : undefined);
  });

  it("have no full view if untracked objects exceed a limit", () => {
    const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key-${i}`, ""]));
    expect(viewsOf({ pod }, [a, configMap("b", data, ignore)])).toMatchObject({ full: undefined });
  });

  const vault = classConfig(
    { namespace: "default", name: "vault" },
    { digest: "x".repeat(32), since: 10, rotated: false },
  );
  const text = `vault 10 ${Buffer.from("x".repeat(32), "latin1").toString("hex")}`;
  const volumes = [
    { name: "v", csi: { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } } },
  ];
  const mounting = { ...pod, volumes };
  const policy = { ...defaultPolicy, providerClasses: true };
  const withVersion = { annotations: { "wave.pusher.com/secret-provider-classes": text } };

  it.each<[string, WorkloadFixture, readonly Config[], string | undefined, readonly string[] | undefined]>([
    ["a class has no recorded version", { pod: mounting }, [a, vault], text, ["a/key"]],
    ["the recorded version is known", { pod: mounting, ...withVersion }, [a, vault], text, undefined],
    [
      "a recorded class is no longer mounted",
      { pod, ...withVersion },
      [a],
      undefined,
      ["a/key", `vault/${versionsKey}`],
    ],
    ["no class is mounted", { pod }, [a], undefined, undefined],
  ])("return the versions to record and the recorded view if %s", (_, fixture, configs, toRecord, asRecorded) => {
    const reader = toWorkload(kinds.Deployment, workloadObject(fixture), policy);
    const classes = recordedClassesOf(reader, lookupOf(...configs));
    const views = trackedViews(trackedReferences(reader, classes.lookup, rulesFor(reader, policy)), undefined, classes);
    expect(views.tracked.recordedClasses).toBe(toRecord);
    expect(views.asRecorded?.entries.map(({ name, key }) => `${name}/${key}`)).toEqual(asRecorded);
  });
});

describe("membershipChange", () => {
  const known = all.tracked;
  it.each<[string, WorkloadFixture, TrackedViews, ConfigView | undefined, string | null | undefined]>([
    ["an object is ignored now", recorded(hashOfAll), onlyA, undefined, hashOfAll],
    ["an object is tracked again", recorded(hashOfA, `${hashOfA} ${hashOfA} ${hashOfAll}`), all, undefined, undefined],
    [
      "an ignored object changed, from a known view",
      recorded(hashOfAll),
      viewsOf({ pod }, [a, bEditedAndIgnored]),
      known,
      hashOfAll,
    ],
    [
      "an ignored object changed, from an unknown view",
      recorded(hashOfAll),
      viewsOf({ pod }, [a, bEditedAndIgnored]),
      undefined,
      null,
    ],
    [
      "the hash was written before the recorded configuration",
      recorded(hashOfA, `${hashOfA} ${other} ${other}`),
      onlyA,
      undefined,
      other,
    ],
    ["all objects are tracked as before", recorded(hashOfAll), all, undefined, null],
    ["no hash is recorded", recorded(undefined), onlyA, undefined, null],
    ["the Pods read another configuration", recorded(other), onlyA, undefined, null],
  ])("decides if %s", (_, fixture, views, recordedView, fullHash) => {
    const change = membershipChange(workload(fixture), views, recordedView, testKeys(1));
    if (fullHash === null) expect(change).toBeUndefined();
    else expect(change).toEqual({ ...views.tracked, fullHash });
  });
});

describe("underCurrentKey", () => {
  const next = viewsOf({ pod }, [a, bIgnored], testKeys(2, 1));
  const nextEdited = viewsOf({ pod }, [a, bEditedAndIgnored], testKeys(2, 1));
  it.each<[string, WorkloadFixture, TrackedViews, string | undefined]>([
    ["the full hash is current", recorded(hashOfA, `${hashOfA} ${hashOfA} ${hashOfAll}`), next, next.full?.hash],
    ["an untracked object has changed", recorded(hashOfA, `${hashOfA} ${hashOfA} ${hashOfAll}`), nextEdited, hashOfAll],
    ["no hash is recorded", recorded(undefined), next, next.full?.hash],
  ])("returns the tracked view with its full hash if %s", (_, fixture, views, fullHash) => {
    expect(underCurrentKey(workload(fixture), views, testKeys(2, 1))).toEqual({ ...views.tracked, fullHash });
  });
});
