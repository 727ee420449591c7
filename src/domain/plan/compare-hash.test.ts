import { describe, expect, it } from "vitest";
import { allCompatibilities, peerWorkload } from "../../../test/support/domain/compatibility.ts";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workload,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import type { Config } from "../config/digest.ts";
import { classConfig, recordedClassesOf } from "../config/recorded-digests.ts";
import { trackedReferences } from "../config/tracked-references.ts";
import { trackedViews } from "../config/tracked-view.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { toWorkload } from "../model/workload.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import type { Policy } from "../policy/policy.ts";
import { rulesFor } from "../policy/rules.ts";
import { planComplete } from "./compare-hash.ts";

const pod = readsAll("ConfigMap", "web");
const web = configMap("web", { page: "1" });
const edited = configMap("web", { page: "2" });
const pending: WorkloadFixture = {
  pod: { ...pod, schedulerName: invalidScheduler },
  annotations: { "wave.pusher.com/scheduling-disabled": "" },
};
/** A workload that has only the annotation of a scheduling hold: its Pods run. */
const leftover: WorkloadFixture = { pod, annotations: { "wave.pusher.com/scheduling-disabled": "" } };

function viewsOf(fixture: WorkloadFixture, config: Config, keys: HashKeys | undefined, ...others: readonly Config[]) {
  return viewsUnder(defaultPolicy, workload(fixture), keys, config, ...others);
}

function viewsUnder(policy: Policy, reader: Workload, keys: HashKeys | undefined, ...configs: readonly Config[]) {
  const classes = recordedClassesOf(reader, lookupOf(...configs));
  return trackedViews(trackedReferences(reader, classes.lookup, rulesFor(reader, policy)), keys, classes);
}

const hashWith = (keys?: HashKeys) => viewsOf({ pod }, web, keys).tracked.hash;
const withHash = (fixture: WorkloadFixture, hash: string): WorkloadFixture => ({
  ...fixture,
  templateAnnotations: { "wave.pusher.com/config-hash": hash },
});

interface PlanCase {
  readonly when: string;
  readonly fixture: WorkloadFixture;
  readonly config?: Config;
  readonly policy?: Partial<Policy>;
  readonly keys?: HashKeys;
  /** Whether the view of the recorded hash is known. */
  readonly isKnown?: true;
  readonly expected: Readonly<Record<string, unknown>>;
}

const removed = "the configuration is complete and the scheduling hold is removed";
const foreign = "0".repeat(64);

const cases: readonly PlanCase[] = [
  {
    when: "no hash is recorded",
    fixture: { pod },
    expected: { outcome: "firstHash", reason: "no hash is recorded yet" },
  },
  {
    when: "no hash is recorded, with --first-sight=record",
    fixture: { pod },
    policy: { firstSight: "record" },
    expected: { outcome: "recorded", cause: "firstSight", reason: "Wave sees the workload for the first time" },
  },
  {
    when: "no hash is recorded and Pods are pending, with --first-sight=record",
    fixture: pending,
    policy: { firstSight: "record" },
    expected: { outcome: "firstHash", reason: removed },
  },
  {
    when: "the hash is of another algorithm",
    fixture: withHash({ pod }, foreign),
    expected: { outcome: "firstHash", reason: "the recorded hash is of another algorithm" },
  },
  {
    when: "the hash is of another algorithm and Pods are pending",
    fixture: withHash(pending, foreign),
    expected: { outcome: "firstHash", reason: `${removed}; the recorded hash is of another algorithm` },
  },
  {
    when: "the key of the hash is unknown",
    fixture: withHash({ pod }, hashWith(testKeys(1))),
    keys: testKeys(3, 2),
    expected: { outcome: "recorded", cause: "key" },
  },
  {
    when: "the key of the hash is unknown and Pods are pending",
    fixture: withHash(pending, hashWith(testKeys(1))),
    keys: testKeys(3, 2),
    expected: { outcome: "firstHash", hash: hashWith(testKeys(3, 2)) },
  },
  {
    when: "the hash is current",
    fixture: withHash({ pod }, hashWith()),
    expected: { outcome: "current", reason: "the Pods read the current configuration" },
  },
  {
    when: "the hash is current with the previous key",
    fixture: withHash({ pod }, hashWith(testKeys(1))),
    keys: testKeys(2, 1),
    expected: { outcome: "current" },
  },
  {
    when: "the hash is current and only this process has its key",
    fixture: withHash({ pod }, hashWith(testKeys(1))),
    keys: testKeys(3, 2, 1),
    expected: { outcome: "recorded", cause: "key", hash: hashWith(testKeys(3, 2)) },
  },
  {
    when: "the hash is current and Pods are pending",
    fixture: withHash(pending, hashWith()),
    expected: { outcome: "firstHash", hash: hashWith() },
  },
  {
    when: "the hash is current and an annotation of a scheduling hold is left",
    fixture: withHash(leftover, hashWith()),
    expected: { outcome: "firstHash", hash: hashWith() },
  },
  {
    when: "the recorded configuration is current and an annotation of a scheduling hold is left",
    fixture: {
      ...leftover,
      annotations: { ...leftover.annotations, "wave.pusher.com/recorded-config": ` ${hashWith()}` },
    },
    expected: { outcome: "cleanUp" },
  },
  {
    when: "it was recorded beside an earlier hash and an annotation of a scheduling hold is left",
    fixture: {
      ...withHash(leftover, `v2:${foreign}`),
      annotations: { ...leftover.annotations, "wave.pusher.com/recorded-config": `v2:${foreign} ${hashWith()}` },
    },
    expected: { outcome: "cleanUp" },
  },
  {
    when: "the configuration changed",
    fixture: withHash({ pod }, hashWith()),
    config: edited,
    expected: { outcome: "roll", changed: undefined, reason: "the configuration changed after its hash was recorded" },
  },
  {
    when: "the configuration changed from a known view",
    fixture: withHash({ pod }, hashWith()),
    config: edited,
    isKnown: true,
    expected: {
      outcome: "roll",
      changed: [{ name: "web", keys: ["page"] }],
      reason: 'ConfigMap "web" changed (key "page")',
    },
  },
  {
    when: "the configuration changed and Pods are pending",
    fixture: withHash(pending, hashWith()),
    config: edited,
    isKnown: true,
    expected: { outcome: "roll", reason: `${removed}; ConfigMap "web" changed (key "page")` },
  },
  {
    when: "an object with the same configuration is tracked again",
    fixture: {
      ...withHash({ pod }, `v2:${foreign}`),
      annotations: { "wave.pusher.com/recorded-config": `v2:${foreign} v2:${foreign} ${hashWith()}` },
    },
    expected: { outcome: "recorded", cause: "tracking", hash: hashWith() },
  },
];

describe("planComplete", () => {
  it.each(cases)("returns $expected.outcome if $when", ({ fixture, config = web, policy, keys, isKnown, expected }) => {
    const previous = isKnown && viewsOf(fixture, web, keys).tracked;
    const reader = workload(fixture);
    const rules = rulesFor(reader, { ...defaultPolicy, ...policy, hashKeys: keys });
    expect(planComplete(reader, viewsOf(fixture, config, keys), rules, previous)).toMatchObject(expected);
  });

  it("names only tracked objects if a tracked and an untracked object changed", () => {
    const references = ["web", "other"].map((name) => ({ configMapRef: { name } }));
    const both: WorkloadFixture = { pod: { containers: [{ name: "web", envFrom: references }] } };
    const recorded = viewsOf(both, web, undefined, configMap("other", { a: "1" })).tracked;
    const object = withHash({ ...both, annotations: { "wave.pusher.com/exclude-configmaps": "other" } }, recorded.hash);
    const reader = workload(object);
    const views = viewsOf(object, edited, undefined, configMap("other", { a: "2" }));
    expect(planComplete(reader, views, rulesFor(reader, defaultPolicy), recorded)).toMatchObject({
      outcome: "roll",
      changed: [{ name: "web", keys: ["page"] }],
    });
  });

  it.each([
    ["releases pending Pods", pending, "roll"],
    ["keeps running Pods", { pod }, "recorded"],
  ])("%s if an object that Stakater Reloader tracks is removed", (_, fixture: WorkloadFixture, outcome) => {
    const annotations = { ...pending.annotations, "configmap.reloader.stakater.com/reload": "web,other" };
    const views = (reader: Workload, ...configs: readonly Config[]) =>
      viewsUnder(allCompatibilities, reader, undefined, ...configs);
    const recorded = views(peerWorkload({ annotations }), web, configMap("other", { a: "1" })).tracked;
    const reader = peerWorkload(withHash({ ...fixture, annotations }, recorded.hash));
    const rules = rulesFor(reader, allCompatibilities);
    expect(planComplete(reader, views(reader, web), rules, recorded).outcome).toBe(outcome);
  });

  it("releases pending Pods that read a SecretProviderClass whose version is not recorded yet", () => {
    const csi = { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } };
    const vault = { namespace: "default", name: "vault" };
    const version = classConfig(vault, { digest: "a".repeat(64), since: 0, rotated: false });
    const reader = withHash({ ...pending, pod: { ...pending.pod, volumes: [{ name: "vault", csi }] } }, hashWith());
    const policy = { ...defaultPolicy, providerClasses: true };
    const held = toWorkload(kinds.Deployment, workloadObject(reader), policy);
    const views = viewsUnder(policy, held, undefined, web, version);
    expect(planComplete(held, views, rulesFor(held, policy), undefined)).toMatchObject({
      outcome: "roll",
      prefix: `${removed}; `,
    });
  });
});
