import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { viewOf } from "../config/hash.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { invalidScheduler, isSchedulingHeld } from "../model/scheduling-hold.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Policy } from "../policy/policy.ts";
import { planAdmission, toAdmissionObject } from "./admission.ts";

const optIn = "wave.pusher.com/update-on-config-change";
const schedulingHold = "wave.pusher.com/scheduling-disabled";
const hash = "wave.pusher.com/config-hash";
const recordedConfig = "wave.pusher.com/recorded-config";

const web = configMap("web", { a: "1" });
/** No hash, the current hash, and hashes with a key. */
const hashes = [undefined, testKeys(1)].flatMap((hashKeys) => {
  const reader = toWorkload(kinds.Deployment, workloadObject({ pod: readsAll("ConfigMap", "web") }));
  const plan = planRollout(reader, lookupOf(web), { ...defaultPolicy, hashKeys });
  return ["hash" in plan ? plan.hash : "", viewOf([], hashKeys?.current).hash];
});
hashes.push("untagged");

const scheduler = fc.constantFrom("default-scheduler", "custom", invalidScheduler);
const wanted: fc.Arbitrary<WorkloadFixture> = fc.record({
  annotations: fc.record({
    [optIn]: fc.constantFrom("true", "true", "true", "false", undefined),
    [schedulingHold]: fc.constantFrom(undefined, undefined, "", "custom", invalidScheduler),
    "wave.pusher.com/mode": fc.constantFrom(undefined, undefined, "observe"),
    [recordedConfig]: fc.constantFrom(
      undefined,
      ...hashes.flatMap((each) => hashes.map((other) => `${each} ${other}`)),
    ),
  }),
  templateAnnotations: fc.constantFrom({}, ...hashes.map((each) => ({ [hash]: each })), { other: "x" }),
  pod: fc
    .tuple(fc.constantFrom({}, readsAll("ConfigMap", "web"), readsAll("ConfigMap", "web", true)), scheduler)
    .map(([reads, schedulerName]) => ({ ...reads, schedulerName })),
  spec: fc.constantFrom({}, { replicas: 2 }),
});
const lookup = fc.constantFrom(lookupOf(), lookupOf(web));
const policy: fc.Arbitrary<Policy> = fc.record({
  crossNamespace: fc.constant(defaultPolicy.crossNamespace),
  namespaces: fc.constant(undefined),
  schedulingHold: fc.boolean(),
  pacing: fc.constant(defaultPolicy.pacing),
  hashKeys: fc.constantFrom(undefined, testKeys(1), testKeys(2, 1), testKeys(3, 2, 1)),
});

/** Its configuration was recorded beside the hash of earlier content, and an annotation of a scheduling hold is left. */
const withEarlierHash: WorkloadFixture = {
  annotations: { [optIn]: "true", [schedulingHold]: "custom", [recordedConfig]: `${hashes[1]} ${hashes[0]}` },
  templateAnnotations: { [hash]: hashes[1] ?? "" },
  pod: { ...readsAll("ConfigMap", "web"), schedulerName: "default-scheduler" },
};

function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  if (patch === undefined) return object;
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

it("a second plan of the patched object changes nothing more", () => {
  fc.assert(
    fc.property(wanted, fc.option(wanted, { nil: undefined }), lookup, policy, (to, from, find, rules) => {
      const operation = from === undefined ? "CREATE" : "UPDATE";
      const old = from && toAdmissionObject(kinds.Deployment, workloadObject(from));
      const once = workloadObject(to);
      const twice = patched(
        once,
        planAdmission(operation, toAdmissionObject(kinds.Deployment, once), old, find, rules).patch,
      );
      expect(
        planAdmission(operation, toAdmissionObject(kinds.Deployment, twice), old, find, rules).patch,
      ).toBeUndefined();
    }),
    {
      numRuns: inject("everything") ? 2000 : 600,
      examples: [[withEarlierHash, undefined, lookupOf(web), defaultPolicy]],
    },
  );
});

it("a request that keeps the template of a running workload keeps it after the patch", () => {
  fc.assert(
    fc.property(wanted, lookup, policy, fc.constantFrom({}, { replicas: 5 }), (from, find, rules, spec) => {
      const old = workloadObject(from);
      fc.pre(!isSchedulingHeld(toWorkload(kinds.Deployment, old)));
      const object = workloadObject({ ...from, spec });
      const after = patched(
        object,
        planAdmission(
          "UPDATE",
          toAdmissionObject(kinds.Deployment, object),
          toAdmissionObject(kinds.Deployment, old),
          find,
          rules,
        ).patch,
      );
      expect(after.spec?.template).toEqual(old.spec?.template);
    }),
    { numRuns: inject("everything") ? 1000 : 300 },
  );
});
