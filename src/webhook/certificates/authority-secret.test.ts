import { beforeEach, describe, expect, it } from "vitest";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { advanceAuthority, authoritySecret, defaultLifetimes } from "./authority.ts";

const { signal } = new AbortController();
const context = { now: Date.now(), others: { certificates: [], tokens: [] }, lifetimes: defaultLifetimes };
const first = advanceAuthority(undefined, "create", context);
const prepared = advanceAuthority(first, "prepare", context);
const promoted = advanceAuthority(prepared, "promote", context);
const path = resourcePath(resources.secrets, { namespace: "wave", name: "ca" });

let api: MemoryApi;
const secret = () => authoritySecret(api, { namespace: "wave", name: "ca" });
beforeEach(() => {
  api = new MemoryApi();
});

const edit = (change: { labels?: object; data?: Record<string, string> }) => {
  const before = api.objects.get(path) as { metadata: object; data: object } | undefined;
  const labels = change.labels ?? { "app.kubernetes.io/managed-by": "wave" };
  const object = { ...before, metadata: { ...before?.metadata, labels }, data: { ...before?.data, ...change.data } };
  return api.request({ method: "PUT", path, body: object });
};

describe("authoritySecret", () => {
  it("reads every state of the authority as it was written", async () => {
    expect(await secret().read(signal)).toBeUndefined();
    let stored = await secret().write(undefined, first, signal);
    for (const authority of [first, prepared, promoted]) {
      stored = await secret().write(stored, authority, signal);
      expect((await secret().read(signal))?.authority).toEqual(authority);
    }
  });

  it("writes a Secret of type kubernetes.io/tls with all trusted authorities in ca.crt", async () => {
    await secret().write(undefined, prepared, signal);
    const { type, data } = api.objects.get(path) as { type?: string; data?: Record<string, string> };
    const text = (key: string) => Buffer.from(data?.[key] ?? "", "base64").toString();
    expect(type).toBe("kubernetes.io/tls");
    expect(text("tls.crt")).toBe(prepared.current.certificate.pem);
    expect(text("tls.key")).toBe(prepared.current.key);
    expect(text("ca.crt")).toBe(`${prepared.current.certificate.pem}${prepared.next?.certificate.pem}`);
  });

  it("lets one of two concurrent writers create or change the Secret", async () => {
    const [won, lost] = await Promise.allSettled([
      secret().write(undefined, first, signal),
      secret().write(undefined, prepared, signal),
    ]);
    expect(lost).toMatchObject({ status: "rejected", reason: { status: 409, reason: "AlreadyExists" } });
    expect((await secret().read(signal))?.authority).toEqual(first);
    const before = won.status === "fulfilled" ? won.value : undefined;
    await secret().write(before, prepared, signal);
    await expect(secret().write(before, promoted, signal)).rejects.toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("rejects a Secret that Wave did not create, with an error that names the next step", async () => {
    await secret().write(undefined, first, signal);
    await edit({ labels: {} });
    await expect(secret().read(signal)).rejects.toThrow(
      'Secret "ca" in namespace "wave" was not created by Wave; delete or rename it, or set another --webhook-service-name',
    );
  });

  it.each(["tls.crt", "tls.key", "ca.crt"])(
    "does not overwrite a Secret with a damaged %s and does not quote its content",
    async (key) => {
      await secret().write(undefined, first, signal);
      const damaged = "-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----";
      await edit({ data: { [key]: Buffer.from(damaged).toString("base64") } });
      const error = await secret()
        .read(signal)
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      expect(error).toMatchObject({
        message: 'Secret "ca" in namespace "wave" is damaged; delete it, and Wave creates a new one',
      });
    },
  );
});
