import { expect, it } from "vitest";
import { defaultPolicy, lookupOf, workloadObject } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { parseRequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { RolloutPlan } from "../../domain/outcomes/outcomes.ts";
import type { JsonPatch } from "../../domain/syntax/json.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { applyPlan } from "./write-plan.ts";

function rowOf(resource: string, kind: string): WorkloadRow {
  const wanted = parseRequestedKind(resource);
  if (wanted === undefined) throw new Error(`${resource} cannot be named`);
  return requestedKindRow(wanted, { apiVersion: "batch/v1", kind });
}

const cronJobs = rowOf("cronjobs.batch", "CronJob");
const jobs = rowOf("jobs.batch", "Job");
const { spec, ...rest } = workloadObject();
const cronJob = {
  ...rest,
  spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: { template: spec?.template } } },
} as unknown as WorkloadObject;
const job = { ...rest, metadata: { ...rest.metadata, resourceVersion: "1" }, spec } as unknown as WorkloadObject;

const hash: JsonPatch = [
  { op: "add", path: "/spec/template/metadata/annotations", value: { "wave.pusher.com/config-hash": "v2:x" } },
];
const annotation: JsonPatch = [{ op: "add", path: "/metadata/annotations/x", value: "y" }];
const plans = {
  roll: { outcome: "roll", hash: "v2:x", view: { entries: [] }, changed: undefined, reason: "", warnings: [] },
  cleanUp: { outcome: "cleanUp", reason: "", warnings: [] },
} as unknown as Readonly<Record<"roll" | "cleanUp", RolloutPlan>>;

const cases = [
  ["patches a Deployment that rolls", kinds.Deployment, workloadObject(), "roll", hash, ["PATCH"]],
  ["patches a Deployment that is cleaned up", kinds.Deployment, workloadObject(), "cleanUp", annotation, ["PATCH"]],
  ["runs a CronJob before its patch", cronJobs, cronJob, "roll", annotation, ["GET", "POST", "PATCH"]],
  ["only patches a CronJob that is cleaned up", cronJobs, cronJob, "cleanUp", annotation, ["PATCH"]],
  [
    "recreates a Job for a change of its template",
    jobs,
    job,
    "roll",
    hash,
    ["GET", "POST", "POST", "DELETE", "POST", "DELETE"],
  ],
  ["only patches other fields of a Job", jobs, job, "roll", annotation, ["PATCH"]],
] as const;

/** Applies a plan on a server that has `stored`, and returns the methods of the requests. */
async function apply(
  row: WorkloadRow,
  stored: WorkloadObject,
  plan: RolloutPlan,
  patch: JsonPatch,
  fails?: AbortController,
) {
  const methods: string[] = [];
  const request = async <T>({ method }: ApiRequest): Promise<T> => {
    methods.push(method ?? "GET");
    fails?.abort();
    if (fails !== undefined) throw new Error("aborted");
    return stored as T;
  };
  const abort = fails?.signal ?? new AbortController().signal;
  const result = await applyPlan(toWorkload(row, stored), plan, patch, {
    client: { request },
    policy: defaultPolicy,
    caches: { lookup: lookupOf() },
    clock: new FakeClock(),
    leadership: { ...soleLeadership(abort), abort },
  });
  return { methods, result };
}

it.for(cases)("%s", async ([, row, stored, plan, patch, methods]) => {
  const applied = await apply(row, stored, plans[plan], patch);
  expect(applied).toMatchObject({ methods, result: { type: "written" } });
});

it.for(cases)("stops without a failure if the leadership is lost: %s", async ([, row, stored, plan, patch]) => {
  const { result } = await apply(row, stored, plans[plan], patch, new AbortController());
  expect(result).toEqual({ type: "stopped" });
});
