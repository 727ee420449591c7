import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLeaseServer } from "../../../test/support/fake-lease-server.ts";
import { ApiError } from "../../kube/api/errors.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { defaultElectionTimings as timings } from "./lease.ts";
import { createLeaseLock } from "./lease-lock.ts";

const patience = { timeoutMs: 5_000 };
const take = () => "take" as const;
const renew = () => "renew" as const;
const release = () => "release" as const;

/** A Lease `wave/wave` on a server, and what "a" does about it. `meanwhile` happens before a request reaches the server. */
function start() {
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
    timings,
  });
  const sent = () => requests.splice(0).map(({ method, path }) => `${method} ${path}`);
  return { server, clock, requests, meanwhile, lock, sent };
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/system/leases";

describe("the requests of leader election", () => {
  it("are get, create and update of the one Lease, and nothing else", async () => {
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

  it("each have the deadline that they are given, and only reads can be ended before it", async () => {
    const { lock, requests } = start();
    const { signal } = new AbortController();
    await lock.attempt(take, { ...patience, signal });
    expect(requests.map(({ method, timeoutMs, signal }) => [method, timeoutMs, signal])).toEqual([
      ["GET", 5_000, signal],
      ["POST", 5_000, undefined],
    ]);
  });

  it("lose a race to create without an error, and leave alone what another made", async () => {
    const { lock, server, meanwhile } = start();
    meanwhile.push(() => server.write({ holderIdentity: "b", leaseDurationSeconds: 15 }));
    expect(await lock.attempt(take, patience)).toEqual({ written: false, ms: 15_000 });
    expect(server.lease?.spec?.holderIdentity).toBe("b");
  });

  it("lose a race to write without an error, and try again where it still is theirs", async () => {
    const { lock, server, meanwhile, sent } = start();
    await lock.attempt(take, patience);
    sent();
    meanwhile.push(() => server.write({ ...server.lease?.spec }));
    expect(await lock.attempt(renew, patience)).toMatchObject({ written: true });
    expect(sent()).toEqual([`PUT ${leases}/wave`, `GET ${leases}/wave`, `PUT ${leases}/wave`]);
  });

  it("do not create a Lease by an update of one that was deleted", async () => {
    const { lock, server, meanwhile, sent } = start();
    await lock.attempt(take, patience);
    sent();
    meanwhile.push(() => server.delete());
    await lock.attempt(renew, patience);
    expect(sent()).toEqual([`PUT ${leases}/wave`, `GET ${leases}/wave`, `POST ${leases}`]);
  });

  it("give up nothing that is another's by now", async () => {
    const { lock, server } = start();
    await lock.attempt(take, patience);
    server.write({ holderIdentity: "b", leaseDurationSeconds: 15 });
    expect(await lock.attempt(release, patience)).toMatchObject({ written: false });
    expect(server.lease?.spec?.holderIdentity).toBe("b");
  });

  it("end with an error where the Lease changes faster than it can be written", async () => {
    const { lock, server, meanwhile } = start();
    server.write({});
    for (let race = 0; race < 10; race++) meanwhile.push(() => server.write({ ...server.lease?.spec }));
    await expect(lock.attempt(take, patience)).rejects.toThrow("the Lease system/wave changes faster");
  });

  it("tell a person what to grant where they are forbidden, keeping the server's words as the cause", async () => {
    const { lock, server } = start();
    server.refuse = { status: 403, reason: "Forbidden" };
    const error = await lock.attempt(take, patience).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/needs get, create and update on the Lease system\/wave: .*Role in namespace system/);
    expect(error instanceof Error && error.cause).toBeInstanceOf(ApiError);
  });

  it("fail by what else the server answers", async () => {
    const { lock, server } = start();
    server.refuse = { status: 500, reason: "InternalError" };
    await expect(lock.attempt(take, patience)).rejects.toThrow("500 InternalError");
  });
});
