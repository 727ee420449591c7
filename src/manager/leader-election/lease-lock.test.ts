import { describe, expect, it } from "vitest";
import type { Lease } from "#kubernetes";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLeaseServer } from "../../../test/support/fake-lease-server.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { defaultLeaseDurationMs, electionTimings } from "./lease.ts";
import { createLeaseLock, type LeaseLockOptions } from "./lease-lock.ts";

const timings = electionTimings(defaultLeaseDurationMs);
const patience = { timeoutMs: 5_000 };
const take = () => "acquire" as const;
const renew = () => "renew" as const;
const release = () => "release" as const;

/** A Lease `wave/wave` on a server, and what "a" does about it. `meanwhile` happens before a request reaches the server. */
function start(annotations?: LeaseLockOptions["annotations"]) {
  const server = new FakeLeaseServer();
  const clock = new FakeClock();
  const requests: ApiRequest[] = [];
  const meanwhile: (() => void)[] = [];
  const request = async <T>(request: ApiRequest): Promise<T> => {
    requests.push(request);
    if (request.method !== "GET") meanwhile.shift()?.();
    return server.answer(request) as T;
  };
  const lock = createLeaseLock({
    client: { request },
    clock,
    namespace: "system",
    name: "wave",
    identity: "a",
    ...timings,
    annotations,
  });
  const sent = () => requests.splice(0).map(({ method, path }) => `${method} ${path}`);
  return { server, clock, requests, meanwhile, lock, sent };
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/system/leases";

describe("the requests of leader election", () => {
  it("are get, create and update of one Lease, and nothing else", async () => {
    const { lock, server, sent } = start();
    await lock.attempt(take, patience);
    expect(sent()).toEqual([`GET ${leases}/wave`, `POST ${leases}`]);
    await lock.attempt(renew, patience);
    expect(sent()).toEqual([`PUT ${leases}/wave`]);
    await lock.attempt(take, patience);
    expect(sent()).toEqual([`GET ${leases}/wave`, `PUT ${leases}/wave`]);
    expect(await lock.attempt(release, patience)).toMatchObject({ written: true });
    expect(sent()).toEqual([`PUT ${leases}/wave`]);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
  });

  it("write annotations with a renewal only, beside those of other clients", async () => {
    const { lock, requests } = start(() => ({ judged: "now" }));
    const written = async (aim: typeof take | typeof renew) => {
      await lock.attempt(aim, patience);
      return (requests.at(-1)?.body as Lease | undefined)?.metadata?.annotations;
    };
    expect(await written(take)).toBe(undefined);
    const { lease } = lock.observation() ?? {};
    Object.assign(lease?.metadata ?? {}, { annotations: { other: "client", judged: "before" } });
    expect(await written(renew)).toEqual({ other: "client", judged: "now" });
  });

  it("have the given timeout, and only reads can be aborted before it", async () => {
    const { lock, requests } = start();
    const { signal } = new AbortController();
    await lock.attempt(take, { ...patience, signal });
    expect(requests.map(({ method, timeoutMs, signal }) => [method, timeoutMs, signal])).toEqual([
      ["GET", 5_000, signal],
      ["POST", 5_000, undefined],
    ]);
  });

  it("lose a conflict on create without an error, and keep the Lease of the other replica", async () => {
    const { lock, server, meanwhile } = start();
    meanwhile.push(() => server.write({ holderIdentity: "b", leaseDurationSeconds: 15 }));
    expect(await lock.attempt(take, patience)).toEqual({ written: false, ms: 15_000 });
    expect(server.lease?.spec?.holderIdentity).toBe("b");
  });

  it("lose a conflict on write without an error, and retry if they still hold the Lease", async () => {
    const { lock, server, meanwhile, sent } = start();
    await lock.attempt(take, patience);
    sent();
    meanwhile.push(() => server.write({ ...server.lease?.spec }));
    expect(await lock.attempt(renew, patience)).toMatchObject({ written: true });
    expect(sent()).toEqual([`PUT ${leases}/wave`, `GET ${leases}/wave`, `PUT ${leases}/wave`]);
  });

  it("do not create a Lease by an update of a deleted one", async () => {
    const { lock, server, meanwhile, sent } = start();
    await lock.attempt(take, patience);
    sent();
    meanwhile.push(() => server.delete());
    await lock.attempt(renew, patience);
    expect(sent()).toEqual([`PUT ${leases}/wave`, `GET ${leases}/wave`, `POST ${leases}`]);
  });

  it("do not release a Lease that another replica holds", async () => {
    const { lock, server } = start();
    await lock.attempt(take, patience);
    server.write({ holderIdentity: "b", leaseDurationSeconds: 15 });
    expect(await lock.attempt(release, patience)).toMatchObject({ written: false });
    expect(server.lease?.spec?.holderIdentity).toBe("b");
  });

  it("fail if the Lease changes faster than it can be written", async () => {
    const { lock, server, meanwhile } = start();
    server.write({});
    for (let race = 0; race < 10; race++) meanwhile.push(() => server.write({ ...server.lease?.spec }));
    await expect(lock.attempt(take, patience)).rejects.toThrow("the Lease system/wave changes faster");
  });

  it("name the missing permission if they are forbidden, with the error of the server as cause", async () => {
    const { lock, server } = start();
    server.refuse = { status: 403, reason: "Forbidden" };
    const error = await lock.attempt(take, patience).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(
      /no permission for Lease system\/wave; grant create, and get and update \(resourceNames: wave\), on leases\.coordination\.k8s\.io in namespace system with a Role/,
    );
    expect(error instanceof Error && error.cause).toBeInstanceOf(ApiError);
  });

  it("fail with any other error of the server", async () => {
    const { lock, server } = start();
    server.refuse = { status: 500, reason: "InternalError" };
    await expect(lock.attempt(take, patience)).rejects.toThrow("500 InternalError");
  });
});
