import { describe, expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import type { WorkloadRow } from "../model/kind-row.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { parseRequestedKind, requestedKindRow } from "../model/kinds/requested-kind.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { toNamespacePolicy } from "../policy/policy.ts";
import { planAdmission, toAdmissionObject } from "./admission.ts";

function rowOf(id: string, kind: string): WorkloadRow {
  const requested = parseRequestedKind(id);
  if (requested === undefined) throw new Error(`${id} cannot be requested`);
  return requestedKindRow(requested, { apiVersion: "batch/v1", kind });
}

const job = rowOf("jobs.batch", "Job");
const cronJob = rowOf("cronjobs.batch", "CronJob");
const pod = readsAll("ConfigMap", "missing");

/** Returns an object of a kind that reads a missing ConfigMap. */
function objectOf(row: WorkloadRow, change: { spec?: Readonly<Record<string, unknown>>; schedulerName?: string } = {}) {
  const { spec, schedulerName = "default-scheduler" } = change;
  const object = workloadObject({ pod: { ...pod, schedulerName }, ...(spec && { spec }) });
  if (row !== cronJob) return object;
  return { ...object, spec: { schedule: "0 0 * * *", jobTemplate: { spec: object.spec } } } as unknown as typeof object;
}

function created(row: WorkloadRow, object: ReturnType<typeof objectOf>) {
  return planAdmission("CREATE", toAdmissionObject(row, object), undefined, lookupOf(), defaultPolicy);
}

describe("a workload whose Pods would keep a scheduling hold for ever", () => {
  it.each([
    ["a Job, whose pod template cannot change", job, {}],
    ["a CronJob, whose scheduled runs keep their Pods", cronJob, {}],
    [
      "a StatefulSet with a partition, which keeps the first template of some Pods",
      kinds.StatefulSet,
      { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } },
    ],
  ])("gets no hold: %s", (_, row, change) => {
    const plan = created(row, objectOf(row, change));
    expect(plan).toMatchObject({ outcome: "waiting", patch: undefined });
    expect(plan.warnings).toMatchObject([{ message: expect.stringContaining("not rolled until then") }]);
  });

  it.each(["workload", "Namespace"])("gets no hold, and loses one, if its %s opts out", (by) => {
    const annotations = { "scheduling-hold": "off" };
    const policy =
      by === "Namespace"
        ? { ...defaultPolicy, namespacePolicyOf: () => ({ ...toNamespacePolicy({}), annotations }) }
        : defaultPolicy;
    const planOf = (schedulerName: string) => {
      const object = objectOf(kinds.Deployment, { schedulerName });
      if (by === "workload" && object.metadata)
        object.metadata.annotations = { ...object.metadata.annotations, "wave.pusher.com/scheduling-hold": "off" };
      return planAdmission("CREATE", toAdmissionObject(kinds.Deployment, object), undefined, lookupOf(), policy);
    };
    expect(planOf("default-scheduler")).toMatchObject({ outcome: "waiting", patch: undefined });
    expect(planOf(invalidScheduler).outcome).toBe("schedulingReleased");
    expect(created(kinds.Deployment, objectOf(kinds.Deployment)).outcome).toBe("schedulingHeld");
  });

  it("gets no hold, and loses one, if a volume of the Secrets Store driver may create what is missing", () => {
    const csi = { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } };
    const mounting = (schedulerName: string) =>
      workloadObject({ pod: { ...readsAll("Secret", "db"), volumes: [{ name: "vault", csi }], schedulerName } });
    expect(created(kinds.Deployment, mounting("default-scheduler")).outcome).toBe("waiting");
    const held = mounting(invalidScheduler);
    expect(created(kinds.Deployment, held).outcome).toBe("schedulingReleased");
    const { workload } = toAdmissionObject(kinds.Deployment, held);
    expect(planRollout(workload, lookupOf(), defaultPolicy)).toMatchObject({ outcome: "cleanUp" });
  });

  it("gets the hold if all of its Pods follow the template", () => {
    const change = { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } };
    expect(created(kinds.StatefulSet, objectOf(kinds.StatefulSet, change)).outcome).toBe("schedulingHeld");
  });

  it.each([
    ["a Job", job],
    ["a CronJob", cronJob],
  ])("loses a hold that it has: %s", (_, row) => {
    const object = objectOf(row, { schedulerName: invalidScheduler });
    expect(created(row, object).outcome).toBe("schedulingReleased");
    const { workload } = toAdmissionObject(row, object);
    expect(planRollout(workload, lookupOf(), defaultPolicy)).toMatchObject({ outcome: "cleanUp" });
  });
});
