import { describe, expect, it } from "vitest";
import { defaultPolicy, workloadObject } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { parseRequestedKind, requestedKindRow } from "../../../domain/model/kinds/requested-kind.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { ApiError, ConnectionError } from "../../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../../kube/http/api-request.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";
import { recreateJob } from "./recreate-job.ts";

const wanted = parseRequestedKind("jobs.batch");
if (wanted === undefined) throw new Error("jobs.batch cannot be named");
const row = requestedKindRow(wanted, { apiVersion: "batch/v1", kind: "Job" });
const labels = { app: "web", "controller-uid": "7", "batch.kubernetes.io/job-name": "web" };
const given = workloadObject({ metadata: { name: "web", uid: "7", generation: 3, labels } });
const stored = { ...given, spec: { ...given.spec, selector: { matchLabels: { "controller-uid": "7" } } }, status: {} };
const hash = { op: "add", path: "/spec/template/metadata", value: { annotations: { hash: "new" } } } as const;

/** Recreates a Job on a server that answers each request except GET with the next of `answers`; undefined: success. */
async function again(
  answers: readonly (Error | undefined)[],
  object: object = stored,
  generation = 3,
  ownership?: "keep",
) {
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const clock = new FakeClock();
  const left = [...answers];
  const client = {
    request: async <T>({ method, query, body }: ApiRequest): Promise<T> => {
      if (method === "GET") return object as T;
      asked.push(query?.dryRun === "All" ? `${method} dry` : method);
      bodies.push(body);
      const answer = left.shift();
      if (answer !== undefined) throw answer;
      return object as T;
    },
  };
  const patch = [{ op: "test", path: "/metadata/generation", value: generation }, hash] as const;
  const leadership = soleLeadership(new AbortController().signal);
  const policy = { ...defaultPolicy, ownership };
  const made = recreateJob(toWorkload(row, stored as WorkloadObject), patch, { client, policy, clock, leadership });
  let result: Awaited<typeof made> | undefined;
  void made.then((settled) => {
    result = settled;
  });
  for (let seconds = 0; seconds < 60 && result === undefined; seconds++) await clock.advance(1_000);
  return { asked, bodies, result };
}

const failure = (status: number, reason: string) =>
  new ApiError({ request: "create jobs", status, reason, serverMessage: "no" });
const exists = failure(409, "AlreadyExists");

describe("a recreated Job", () => {
  it("is created as a dry run, recorded, deleted with preconditions, and created without the fields that others set", async () => {
    const { asked, bodies, result } = await again([exists]);
    expect([asked, result?.type]).toEqual([["POST dry", "POST", "DELETE", "POST", "DELETE"], "written"]);
    expect(bodies[1]).toMatchObject({ metadata: { labels: { "wave.pusher.com/job-replacement": "true" } } });
    expect(bodies[2]).toMatchObject({ propagationPolicy: "Background", preconditions: { uid: "7" } });
    const body = bodies[3] as { metadata: object; spec: object };
    expect(body.metadata).toMatchObject({ name: "web", labels: { app: "web" } });
    expect(Object.keys(body.metadata)).not.toEqual(expect.arrayContaining(["uid"]));
    expect(JSON.stringify(body)).not.toMatch(/controller-uid|batch.kubernetes.io|"status"|generation/);
    expect(body.spec).toMatchObject({ template: { metadata: { annotations: { hash: "new" } } } });
  });

  it("is not deleted if the dry run fails, if it has finalizers, or if it was replaced", async () => {
    const denied = await again([failure(403, "Forbidden")]);
    expect([denied.asked, denied.result?.type]).toEqual([["POST dry"], "refused"]);
    const metadata = { ...stored.metadata, finalizers: ["example.com/kept"] };
    expect(await again([], { ...stored, metadata })).toMatchObject({ asked: [], result: { type: "refused" } });
    expect(await again([], stored, 4)).toMatchObject({ asked: [], result: { type: "stale" } });
    const full = await again([exists, failure(403, "Forbidden")]);
    expect([full.asked, full.result?.type]).toEqual([["POST dry", "POST"], "refused"]);
    const conflict = await again([exists, undefined, failure(409, "Conflict")]);
    expect([conflict.asked, conflict.result?.type]).toEqual([["POST dry", "POST", "DELETE", "DELETE"], "stale"]);
  });

  it("is deleted with the finalizer of --owner-references, which Wave removes then, and not without this flag", async () => {
    const owned = { ...stored, metadata: { ...stored.metadata, finalizers: ["wave.pusher.com/finalizer"] } };
    const deleting = exists;
    const { asked, result } = await again([exists, undefined, undefined, deleting], owned, 3, "keep");
    expect(asked.slice(0, 3)).toEqual(["POST dry", "POST", "DELETE"]);
    expect(result?.type).not.toBe("refused");
    expect(await again([], owned)).toMatchObject({ asked: [], result: { type: "refused" } });
    const both = { ...owned, metadata: { ...owned.metadata, finalizers: ["wave.pusher.com/finalizer", "a/b"] } };
    expect(await again([], both, 3, "keep")).toMatchObject({ asked: [], result: { type: "refused" } });
  });

  it("is refused with the names of invalid fields, and without their values", async () => {
    const causes = [{ field: "spec.template.spec.containers[0].env[0].value", reason: "FieldValueInvalid" }];
    const invalid = () =>
      new ApiError({
        request: "create jobs",
        status: 422,
        reason: "Invalid",
        serverMessage: 'Job "web" is invalid: spec: Invalid value: "hunter2"',
        details: { causes },
      });
    const dry = await again([invalid()]);
    const created = await again([exists, undefined, undefined, ...Array.from({ length: 50 }, invalid)]);
    for (const { result } of [dry, created]) {
      expect(result).toMatchObject({
        type: "refused",
        message: expect.stringContaining("containers[0].env[0].value (FieldValueInvalid)"),
      });
      expect(JSON.stringify(result)).not.toContain("hunter2");
    }
  });

  it("is created with retries once the old Job is deleted", async () => {
    const broken = new ConnectionError("it broke");
    const { asked, result } = await again([
      exists,
      undefined,
      undefined,
      broken,
      failure(503, "ServiceUnavailable"),
      broken,
    ]);
    expect([asked.length, result?.type]).toEqual([8, "written"]);
    const never = await again([
      exists,
      undefined,
      undefined,
      ...Array.from({ length: 30 }, () => failure(403, "Forbidden")),
    ]);
    expect(never.result).toMatchObject({
      type: "refused",
      message: expect.stringContaining("Job deleted, but not created again"),
    });
  });
});
