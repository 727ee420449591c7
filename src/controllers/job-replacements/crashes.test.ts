import { describe, expect, it } from "vitest";
import { defaultPolicy, unpaced, workloadObject } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { parseRequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import { soleLeadership, WritePermits } from "../../runtime/write-permits.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { recreateJob } from "../rollout/apply/recreate-job.ts";
import { JobReplacements } from "./controller.ts";

const requested = parseRequestedKind("jobs.batch");
if (requested === undefined) throw new Error("jobs.batch cannot be requested");
const row = requestedKindRow(requested, { apiVersion: "batch/v1", kind: "Job" });
const jobs = "/apis/batch/v1/namespaces/default/jobs";

interface StoredJob {
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels?: Record<string, string> };
  readonly spec: { readonly suspend?: boolean; readonly parallelism?: number; readonly template: object };
}

/** The Jobs of an API server. `reject` is the number of creations of the Job "web" that a quota rejects. */
class JobServer {
  readonly jobs = new Map<string, StoredJob>();
  reject = 0;
  #uids = 0;

  answer({ method, path, query, body }: ApiRequest): unknown {
    const name = path.slice(jobs.length + 1);
    const failure = (status: number, reason: string) =>
      new ApiError({ request: `${method} ${path}`, status, reason, serverMessage: reason });
    if (method === "GET" && name === "") {
      const items = [...this.jobs.values()].filter(
        ({ metadata }) => metadata.labels?.["wave.pusher.com/job-replacement"],
      );
      return { metadata: { resourceVersion: "1" }, items };
    }
    if (method === "POST") {
      const sent = structuredClone(body) as StoredJob;
      if (this.jobs.has(sent.metadata.name)) throw failure(409, "AlreadyExists");
      if (query?.dryRun !== undefined) return sent;
      if (sent.metadata.name === "web" && this.reject-- > 0) throw failure(403, "Forbidden");
      const stored = { ...sent, metadata: { ...sent.metadata, uid: `uid-${++this.#uids}`, resourceVersion: "1" } };
      this.jobs.set(sent.metadata.name, stored);
      return structuredClone(stored);
    }
    const found = this.jobs.get(name);
    if (found === undefined) throw failure(404, "NotFound");
    const wanted = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid;
    if (wanted !== undefined && wanted !== found.metadata.uid) throw failure(409, "Conflict");
    if (method === "DELETE") this.jobs.delete(name);
    return structuredClone(found);
  }
}

const hash = { op: "add", path: "/spec/template/metadata", value: { annotations: { hash: "new" } } } as const;

/** Recreates a Job in a process that ends at a request: before it is sent, or before its response arrives. Then another process leads. */
async function crash(at: number, isSent: boolean, server = new JobServer()) {
  const given = workloadObject({ metadata: { name: "web", generation: 3, labels: { app: "web" } } });
  const spec = { ...given.spec, parallelism: 3, completions: 3, suspend: false };
  server.answer({ method: "POST", path: jobs, body: { ...given, spec } });
  const stored = server.answer({ method: "GET", path: `${jobs}/web` }) as WorkloadObject;
  const clock = new FakeClock();
  let requests = 0;
  const client = {
    request: async <T>(request: ApiRequest): Promise<T> => {
      if (requests++ < at) return server.answer(request) as T;
      if (requests - 1 === at && isSent) server.answer(request);
      return new Promise<T>(() => {});
    },
  };
  const patch = [{ op: "test", path: "/metadata/generation", value: 3 }, hash] as const;
  const leadership = soleLeadership(new AbortController().signal);
  const run = recreateJob(toWorkload(row, stored), patch, { client, policy: defaultPolicy, clock, leadership });
  void run.catch(() => {});
  await clock.advance(60_000);
  return { server, requests };
}

/** Lets another process lead for a time, in seconds. Returns the times of its writes, in milliseconds, which are one in ten seconds. */
async function lead(server: JobServer, seconds: number): Promise<readonly number[]> {
  const clock = new FakeClock();
  const stop = new AbortController();
  const writes: number[] = [];
  const client = {
    request: async <T>(request: ApiRequest): Promise<T> => {
      if (request.method !== "GET") writes.push(clock.monotonic() - start);
      return server.answer(request) as T;
    },
  };
  const start = clock.monotonic();
  const policy = { crossNamespace: "granted", namespaces: ["default"], schedulingHold: true, pacing: unpaced } as const;
  const leadership = soleLeadership(stop.signal);
  const permits = new WritePermits({ clock, tokens: new TokenBucket({ clock, perSecond: 0.1, burst: 1 }), leadership });
  const caches = { kinds: () => [row] };
  const run = new JobReplacements({ client, caches, policy, clock, log: silentLogger, leadership, permits }).run();
  for (let second = 0; second < seconds; second += 10) await clock.advance(10_000);
  stop.abort();
  await run;
  return writes;
}

const cases = Array.from({ length: 6 }, (_, at) => [false, true].map((isSent) => [at, isSent] as const)).flat();

describe("a Job that is being replaced", () => {
  it.each(cases)("exists after the process ends at request %i (sent: %s)", async (at, isSent) => {
    const { server } = await crash(at, isSent);
    await lead(server, 600);
    expect([...server.jobs.keys()]).toEqual(["web"]);
    const { metadata, spec } = server.jobs.get("web") as StoredJob;
    expect(metadata).toMatchObject({ labels: { app: "web" } });
    expect(spec).toMatchObject({ parallelism: 3, completions: 3, suspend: false });
    expect(JSON.stringify(spec.template).includes('"hash":"new"')).toBe(metadata.uid !== "uid-1");
  });

  it("is stored in a record that runs no Pods, which is gone at the end", async () => {
    // Requests: read, dry run, record, deletion.
    const { server } = await crash(4, false);
    const [record, ...others] = [...server.jobs.values()];
    expect(others).toEqual([]);
    expect(record?.metadata.name).toMatch(/^web-wave-[0-9a-f]{10}$/);
    expect(record?.spec).toMatchObject({ suspend: true, parallelism: 0 });
    const whole = await crash(100, false);
    expect([...whole.server.jobs.keys()]).toEqual(["web"]);
  });

  it("is created as soon as a quota has room, also after its writer gave up", async () => {
    const server = new JobServer();
    const given = server.answer.bind(server);
    server.answer = (request) => {
      const response = given(request);
      if (request.method === "DELETE" && request.path === `${jobs}/web`) server.reject = 40;
      return response;
    };
    await crash(100, false, server);
    expect([...server.jobs.keys()]).toEqual([expect.stringMatching(/^web-wave-/)]);
    await lead(server, 60);
    expect(server.jobs.has("web")).toBe(false);
    await lead(server, 600);
    expect([...server.jobs.keys()]).toEqual(["web"]);
  });

  it("is created when it has a write permit, and its record deleted with the same permit", async () => {
    const { server } = await crash(5, false);
    const [record] = [...server.jobs.values()];
    if (record === undefined) throw new Error("the record is missing");
    const { metadata, ...rest } = record;
    for (const uid of ["other-1", "other-2"])
      server.jobs.set(uid, { metadata: { ...metadata, name: uid, uid }, ...rest });
    const writes = await lead(server, 30);
    expect(writes).toEqual([0, 0, 10_000, 10_000, 20_000, 20_000]);
  });

  it("stays deleted if a person deletes the record", async () => {
    const { server } = await crash(4, false);
    server.jobs.clear();
    await lead(server, 600);
    expect([...server.jobs.keys()]).toEqual([]);
  });
});
