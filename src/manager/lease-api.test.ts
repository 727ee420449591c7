import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../kube/api-request.ts";
import { ApiError, ConnectionError } from "../kube/errors.ts";
import { FakeClock } from "../lib/fake-clock.ts";
import { FakeLeaseServer } from "./fake-lease-server.ts";
import { createLeaseApi } from "./lease-api.ts";

const patience = { timeoutMs: 5_000 };
const spec = { holderIdentity: "a", leaseDurationSeconds: 15 };

function start() {
  const server = new FakeLeaseServer();
  const clock = new FakeClock();
  const requests: string[] = [];
  const request = async <T>({ method, path, body }: ApiRequest): Promise<T> => {
    requests.push(`${method} ${path}`);
    return server.answer({ method, body }) as T;
  };
  const api = createLeaseApi({ client: { request }, clock, namespace: "system", name: "wave" });
  return { server, clock, requests, api };
}

describe("the requests of leader election", () => {
  it("are get, create and update of the one Lease, and nothing else", async () => {
    const { api, requests } = start();
    expect(await api.read(patience)).toBeUndefined();
    const created = await api.create(spec, patience);
    const updated = created && (await api.update(created, { ...spec, holderIdentity: "b" }, patience));
    expect(updated?.spec).toEqual({ ...spec, holderIdentity: "b" });
    const leases = "/apis/coordination.k8s.io/v1/namespaces/system/leases";
    expect(requests).toEqual([`GET ${leases}/wave`, `POST ${leases}`, `PUT ${leases}/wave`]);
  });

  it("lose a race without an error: to create what exists, or to write what is newer", async () => {
    const { api, server } = start();
    const created = await api.create(spec, patience);
    expect(await api.create(spec, patience)).toBeUndefined();
    server.write({ ...spec, holderIdentity: "b" });
    expect(created && (await api.update(created, spec, patience))).toBeUndefined();
    expect(server.lease?.spec?.holderIdentity).toBe("b");
  });

  it("do not create a Lease by an update of one that was deleted", async () => {
    const { api, server } = start();
    const created = await api.create(spec, patience);
    server.delete();
    expect(created && (await api.update(created, spec, patience))).toBeUndefined();
    expect(server.lease).toBeUndefined();
  });

  it("end by their deadline, even by a client that heeds none", async () => {
    const clock = new FakeClock();
    const client = { request: () => new Promise<never>(() => {}) };
    const api = createLeaseApi({ client, clock, namespace: "system", name: "wave" });
    const outcome = api.read(patience).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await outcome).toBeInstanceOf(ConnectionError);
    expect(String(await outcome)).toMatch("no answer within 5.0s");
    expect(clock.pending).toBe(0);
  });

  it("end with the signal's reason", async () => {
    const clock = new FakeClock();
    const client = { request: () => new Promise<never>(() => {}) };
    const api = createLeaseApi({ client, clock, namespace: "system", name: "wave" });
    const end = new AbortController();
    const outcome = api.read({ ...patience, signal: end.signal });
    end.abort(new Error("enough"));
    await expect(outcome).rejects.toThrow("enough");
    await expect(api.read({ ...patience, signal: end.signal })).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });

  it("tell a person what to grant where they are forbidden, keeping the server's words as the cause", async () => {
    const { api, server } = start();
    server.refuse = { status: 403, reason: "Forbidden" };
    const error = await api.read(patience).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/needs get, create and update on the Lease system\/wave: .*Role in namespace system/);
    expect(error instanceof Error && error.cause).toBeInstanceOf(ApiError);
  });

  it("fail by what else the server answers", async () => {
    const { api, server } = start();
    server.refuse = { status: 500, reason: "InternalError" };
    await expect(api.create(spec, patience)).rejects.toThrow("500 InternalError");
  });
});
