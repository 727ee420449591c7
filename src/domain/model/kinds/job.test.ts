import { describe, expect, it } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  workloadObject,
} from "../../../../test/support/domain/objects.ts";
import { replacementRecord } from "../job-replacement.ts";
import { toWorkload } from "../workload.ts";
import type { WorkloadObject } from "../workload-references.ts";
import { parseRequestedKind, type RequestedKind, requestedKindRow } from "./requested-kind.ts";

const row = requestedKindRow(parseRequestedKind("jobs.batch") as RequestedKind, {
  apiVersion: "batch/v1",
  kind: "Job",
});
const lookup = lookupOf(configMap("web", { a: "1" }));

function planOf(ownerReferences: readonly object[]) {
  const { metadata, ...object } = workloadObject({ pod: readsAll("ConfigMap", "web") });
  const job = { ...object, metadata: { ...metadata, ownerReferences } } as unknown as WorkloadObject;
  return planRollout(toWorkload(row, job), lookup, defaultPolicy);
}

describe("a Job", () => {
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid: "u" };

  it("is ignored if a CronJob controls it, although it has its annotations: past runs must not be recreated", () => {
    expect(planOf([{ ...owner, controller: true }])).toEqual({
      outcome: "ignore",
      reason: '"CronJob" "nightly" manages this workload and replaces it',
      warnings: [],
    });
  });

  it("causes no warning as the record of a Job that is being replaced", () => {
    const { metadata, spec } = workloadObject({ pod: readsAll("ConfigMap", "web") });
    const record = replacementRecord({ metadata, spec }, "uid") as WorkloadObject;
    expect(planRollout(toWorkload(row, record), lookup, defaultPolicy)).toMatchObject({
      outcome: "ignore",
      warnings: [],
    });
  });

  it("is rolled if no owner controls it", () => {
    expect(planOf([owner]).outcome).toBe("recorded");
  });
});
