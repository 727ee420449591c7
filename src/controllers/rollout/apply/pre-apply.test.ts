import { describe, expect, it } from "vitest";
import { allCompatibilities } from "../../../../test/support/domain/compatibility.ts";
import { defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../../test/support/domain/objects.ts";
import { rollInProgress } from "../../../domain/config/tracked-view.ts";
import { parseRequestedKind, requestedKindRow } from "../../../domain/model/kinds/requested-kind.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { ApiError, ConnectionError } from "../../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../../kube/http/api-request.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";
import { preApply } from "./pre-apply.ts";

const wanted = parseRequestedKind("cronjobs.batch");
if (wanted === undefined) throw new Error("cronjobs.batch cannot be named");
const row = requestedKindRow(wanted, { apiVersion: "batch/v1", kind: "CronJob" });
const name = "b".repeat(52);

function cronJob(more: object = {}, generation = 3): WorkloadObject {
  const { spec, ...object } = workloadObject({ metadata: { name, generation } });
  const jobTemplate = { metadata: { labels: { of: "web" } }, spec: { backoffLimit: 1, template: spec?.template } };
  return { ...object, spec: { schedule: "0 0 1 1 *", jobTemplate, ...more } } as unknown as WorkloadObject;
}

/** Runs a CronJob that has changed since it was read, on a server with this response to the creation of a Job. */
async function run(read: WorkloadObject, stored = read, answer: () => unknown = () => ({})) {
  const made: { path: string; body: Record<string, unknown> }[] = [];
  const client = {
    request: async <T>({ method, path, body }: ApiRequest): Promise<T> => {
      if (method === "GET") return stored as T;
      made.push({ path, body: body as Record<string, unknown> });
      return answer() as T;
    },
  };
  const workload = toWorkload(row, read);
  const patch = [{ op: "test", path: "/metadata/generation", value: workload.generation }] as const;
  return { made, result: await preApply(workload, "v2:hash", patch, { client, ...options() }) };
}

const options = () => ({
  policy: { ...defaultPolicy, ...allCompatibilities },
  leadership: soleLeadership(new AbortController().signal),
  caches: { lookup: lookupOf() },
});

const failing = (status: number, reason: string) => (): never => {
  throw new ApiError({ request: "create jobs", status, reason, serverMessage: "no" });
};

describe("a run of a CronJob", () => {
  it("is a Job like the scheduled ones, with the new hash", async () => {
    const { made, result } = await run(cronJob());
    expect(result).toMatchObject({ type: "acted" });
    expect(made).toHaveLength(1);
    expect(made[0]?.path).toBe("/apis/batch/v1/namespaces/default/jobs");
    expect(made[0]?.body).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^b{40}-wave-[0-9a-f]{10}$/),
        labels: { of: "web" },
        annotations: { "cronjob.kubernetes.io/instantiate": "manual" },
        ownerReferences: [{ apiVersion: "batch/v1", kind: "CronJob", name, controller: true }],
      },
      spec: { backoffLimit: 1, template: { metadata: { annotations: { "wave.pusher.com/config-hash": "v2:hash" } } } },
    });
  });

  it("has the same name for the same state, so that a repeated creation finds the Job and continues", async () => {
    const names = [await run(cronJob()), await run(cronJob()), await run(cronJob({}, 4))].map(({ made }) =>
      made.map(({ body }) => (body.metadata as { name: string }).name),
    );
    expect(names[0]).toEqual(names[1]);
    expect(names[0]).not.toEqual(names[2]);
    const { result } = await run(cronJob(), cronJob(), failing(409, "AlreadyExists"));
    expect(result).toMatchObject({ type: "acted" });
  });

  it("is not created if the CronJob was replaced or suspended, or if its Pods are pending", async () => {
    const stale = await run(cronJob(), cronJob({}, 4));
    expect(stale.made).toEqual([]);
    expect(stale.result).toMatchObject({ type: "stale", newest: { generation: 4 } });
    const suspended = await run(cronJob({ suspend: true }));
    expect(suspended).toMatchObject({ made: [], result: { type: "acted" } });
  });

  it.each([
    ["refused", failing(403, "Forbidden")],
    ["refused", failing(422, "Invalid")],
    ["unavailable", failing(503, "ServiceUnavailable")],
    [
      "unavailable",
      () => {
        throw new ConnectionError("it broke");
      },
    ],
  ])("that fails is %s, and no hash is recorded", async (type, answer) => {
    const { result } = await run(cronJob(), cronJob(), answer);
    expect(result).toMatchObject({ type });
    if (type === "unavailable") expect(result).toMatchObject({ uncertain: false });
  });
});

describe("the pod template of a Deployment that is the template source of a Rollout", () => {
  const rollouts = parseRequestedKind("rollouts.argoproj.io");
  if (rollouts === undefined) throw new Error("rollouts.argoproj.io cannot be named");
  const borrowing = requestedKindRow(rollouts, { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" });
  const workloadRef = { apiVersion: "apps/v1", kind: "Deployment", name: "lent" };
  const borrower = { ...workloadObject(), spec: { workloadRef } } as unknown as WorkloadObject;

  const lent = (config: string, more: Parameters<typeof workloadObject>[0] = {}) =>
    workloadObject({
      ...more,
      metadata: { name: "lent", uid: "of the Deployment", resourceVersion: "77" },
      pod: readsAll("ConfigMap", config),
      annotations: {
        "wave.pusher.com/update-on-config-change": "false",
        "wave.pusher.com/allow-workload-ref": "true",
        ...more.annotations,
      },
    });

  const recordedPath = "/metadata/annotations/wave.pusher.com~1config-hash";

  /** Rolls a Rollout that was planned with one ConfigMap. Its template source is this Deployment now, or is gone. */
  async function roll(planned: string, stored: WorkloadObject | undefined, answer?: () => unknown) {
    const sent: ApiRequest[] = [];
    const noted: unknown[] = [];
    const client = {
      request: async <T>(request: ApiRequest): Promise<T> => {
        if (request.path.includes("/rollouts/")) {
          if (request.method === "PATCH") noted.push(request.body);
          return borrower as T;
        }
        if (request.method === "GET" && stored === undefined) return failing(404, "NotFound")();
        if (request.method === "GET") return stored as T;
        sent.push(request);
        return (answer === undefined ? request.body : answer()) as T;
      },
    };
    const whole = borrowing.workloadRef?.withTemplate(borrower, lent(planned).spec?.template, 3) ?? borrower;
    const workload = toWorkload(borrowing, whole);
    const patch = [
      { op: "test", path: "/metadata/uid", value: workload.uid },
      { op: "test", path: recordedPath, value: null },
      { op: "add", path: recordedPath, value: "v2:hash" },
    ] as const;
    const result = await preApply(workload, "v2:hash", patch, { client, ...options() });
    return { sent, noted, result };
  }
  const written = ({ sent }: { readonly sent: readonly ApiRequest[] }) =>
    sent.map(({ body }) => (body as WorkloadObject).spec?.template?.metadata?.annotations);

  it("gets the hash if the Deployment is still the one that was read", async () => {
    const { sent, noted, result } = await roll("page", lent("page"));
    // The last write tests the annotation of the first one.
    expect(result).toEqual({
      type: "acted",
      patch: [
        { op: "test", path: "/metadata/uid", value: borrower.metadata?.uid },
        { op: "test", path: recordedPath, value: rollInProgress },
        { op: "add", path: recordedPath, value: "v2:hash" },
      ],
    });
    // After a crash here a rollout is due, regardless of edits until then.
    expect(noted).toEqual([
      [
        { op: "test", path: "/metadata/uid", value: borrower.metadata?.uid },
        { op: "test", path: recordedPath, value: null },
        { op: "add", path: recordedPath, value: rollInProgress },
      ],
    ]);
    expect(sent).toMatchObject([
      {
        method: "PATCH",
        path: "/apis/apps/v1/namespaces/default/deployments/lent",
        contentType: "application/merge-patch+json",
        body: {
          metadata: { uid: "of the Deployment", resourceVersion: "77" },
          spec: { template: { metadata: { annotations: { "wave.pusher.com/config-hash": "v2:hash" } } } },
        },
      },
    ]);
    const changed = await roll("page", lent("page"), failing(409, "Conflict"));
    expect(changed.result).toMatchObject({ type: "stale" });
  });

  it("is not written if its owner did not consent, unless it has no Pods", async () => {
    const not = { "wave.pusher.com/allow-workload-ref": undefined };
    const refused = await roll("page", lent("page", { annotations: not }));
    expect(refused).toMatchObject({
      sent: [],
      noted: [],
      result: {
        type: "refused",
        message:
          'Not rolled: Deployment "lent" has Pods and has not opted in. To allow the changes for a Rollout with workloadRef, set wave.pusher.com/allow-workload-ref: "true" on it.',
      },
    });
    const optedIn = { ...not, "wave.pusher.com/update-on-config-change": "true" };
    expect((await roll("page", lent("page", { annotations: optedIn }))).sent).toHaveLength(1);
    const isOff = { ...not, "wave.pusher.com/allow-workload-ref": "false" };
    expect((await roll("page", lent("page", { annotations: isOff }))).sent).toEqual([]);
    expect((await roll("page", lent("page", { annotations: not, spec: { replicas: 0 } }))).sent).toHaveLength(1);
  });

  it("is not written if it already has the hash", async () => {
    const templateAnnotations = { "wave.pusher.com/config-hash": "v2:hash" };
    expect(await roll("page", lent("page", { templateAnnotations }))).toMatchObject({
      sent: [],
      noted: [],
      result: { type: "acted", patch: expect.arrayContaining([{ op: "test", path: recordedPath, value: null }]) },
    });
  });

  it("gets a second hash annotation if the Deployment opted in for other objects, otherwise the usual one", async () => {
    const annotations = { "wave.pusher.com/update-on-config-change": "true" };
    const same = await roll("page", lent("page", { annotations }));
    expect(written(same)).toEqual([{ "wave.pusher.com/config-hash": "v2:hash" }]);
    const more = { ...annotations, "wave.pusher.com/extra-configmaps": "more" };
    const other = await roll("page", lent("page", { annotations: more }));
    expect(written(other)).toEqual([{ "wave.pusher.com/workload-ref-hash": "v2:hash" }]);
  });

  it("is not treated as written if the hash was removed on write", async () => {
    const { result } = await roll("page", lent("page"), () => lent("page"));
    expect(result).toMatchObject({ type: "refused", message: expect.stringContaining('Deployment "lent"') });
  });

  it("is not written if it reads other objects now, so that the workload is planned again", async () => {
    const { sent, result } = await roll("page", lent("other"));
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ type: "stale", newest: { references: [{ name: "other" }] } });
  });

  it("is not written if the Deployment is gone, and the write is retried", async () => {
    const { sent, result } = await roll("page", undefined);
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ type: "refused", message: expect.stringContaining('"Deployment" "lent"') });
    expect((await roll("page", lent("page"), failing(404, "NotFound"))).result).toMatchObject({ type: "stale" });
  });

  it("is named as the object that may not be written", async () => {
    const denied = () => {
      const serverMessage = 'deployments.apps "lent" is forbidden: User "wave" cannot patch resource "deployments"';
      throw new ApiError({ request: "patch", status: 403, reason: "Forbidden", serverMessage });
    };
    const { result } = await roll("page", lent("page"), denied);
    expect(result).toMatchObject({
      type: "refused",
      message: expect.stringContaining("on deployments.apps in namespace"),
    });
  });
});
