import { beforeEach, describe, expect, it } from "vitest";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { createAuthority } from "./certificates.ts";
import { type NewConfiguration, webhookConfiguration } from "./configuration.ts";
import { writeBundle } from "./pem.ts";
import { installedRegistration, ownRegistration, warnIfNotRegistered } from "./registration.ts";

const { signal } = new AbortController();
const validity = { notBefore: Date.now(), notAfter: Date.now() + 86_400_000 };
const one = createAuthority("one", validity).certificate;
const two = createAuthority("two", validity).certificate;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const configurations = resourcePath(resources.mutatingWebhookConfigurations);
const token = "0123456789abcdef0123456789abcdef";
const service = { namespace: "wave", name: "wave-webhook" };

let api: MemoryApi;
const stored = (name: string) => api.objects.get(`${configurations}/${name}`) as NewConfiguration | undefined;
const caBundles = () => stored("wave-webhook")?.webhooks.map(({ clientConfig }) => clientConfig.caBundle);

beforeEach(() => {
  api = new MemoryApi();
});

describe("an installed registration", () => {
  const registration = () => installedRegistration(api, service);
  const install = async (...services: readonly { namespace: string; name: string }[]) => {
    const { webhooks, ...rest } = webhookConfiguration({
      name: "wave-webhook",
      clientConfig: { service },
      namespaces: undefined,
    });
    const body = {
      ...rest,
      webhooks: services.flatMap((s) => webhooks.map((w) => ({ ...w, clientConfig: { service: s } }))),
    };
    await api.request({ method: "POST", path: configurations, body });
  };
  const publish = async (...trusted: readonly (typeof one)[]) =>
    registration().publish(await registration().read(signal), { trusted, token }, signal);

  it("gets its caBundle by a patch, and no write if it is correct", async () => {
    await install(service);
    expect((await registration().read(signal))?.trusted).toEqual([]);
    expect((await publish(one, two))?.trusted).toEqual([one, two]);
    expect(caBundles()).toEqual([base64(writeBundle([one, two]))]);
    const writes = [...api.writes];
    expect((await publish(one, two))?.trusted).toEqual([one, two]);
    expect(api.writes).toEqual(writes);
  });

  it("is corrected after another client changed or broke its caBundle", async () => {
    await install(service);
    await publish(one);
    for (const wrong of [
      base64(writeBundle([two])),
      base64("broken"),
      base64("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----"),
    ]) {
      const body = [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value: wrong }];
      await api.request({ method: "PATCH", path: `${configurations}/wave-webhook`, body });
      await publish(one);
      expect(caBundles()).toEqual([base64(writeBundle([one]))]);
    }
  });

  it("gets path and caBundle in one write, again after a tool reset the path, and the path alone if another program writes the caBundle", async () => {
    await install({ ...service }, { ...service });
    expect(await publish(one)).toMatchObject({ trusted: [one], token, webhookCount: 2 });
    const paths = () => stored("wave-webhook")?.webhooks.map(({ clientConfig }) => clientConfig.service?.path);
    expect(paths()).toEqual([`/mutate/${token}`, `/mutate/${token}`]);
    expect(api.writes).toHaveLength(2);
    for (const wrong of ["/mutate", "/mutate/short", `/mutate/${"f".repeat(32)}`]) {
      const body = [{ op: "replace", path: "/webhooks/1/clientConfig/service/path", value: wrong }];
      await api.request({ method: "PATCH", path: `${configurations}/wave-webhook`, body });
      const before = await registration().read(signal);
      expect(before?.token).toBeUndefined();
      expect(await registration().publish(before, { trusted: undefined, token }, signal)).toMatchObject({ token });
      expect(caBundles()).toEqual([base64(writeBundle([one])), base64(writeBundle([one]))]);
    }
  });

  it("is changed only in webhooks that point to the Service of Wave", async () => {
    await install({ ...service, namespace: "other" }, service, service);
    expect((await publish(one))?.trusted).toEqual([one]);
    expect(caBundles()).toEqual([undefined, base64(writeBundle([one])), base64(writeBundle([one]))]);
  });

  it("trusts only the certificates that all webhooks of Wave in it trust", async () => {
    await install(service, service);
    await publish(one, two);
    const body = [{ op: "replace", path: "/webhooks/1/clientConfig/caBundle", value: base64(writeBundle([two])) }];
    await api.request({ method: "PATCH", path: `${configurations}/wave-webhook`, body });
    expect((await registration().read(signal))?.trusted).toEqual([two]);
  });

  it("is not written from a stale state", async () => {
    await install(service);
    const old = await registration().read(signal);
    await publish(one, two);
    await expect(registration().publish(old, { trusted: [one], token }, signal)).rejects.toMatchObject({ status: 422 });
    expect(caBundles()).toEqual([base64(writeBundle([one, two]))]);
  });

  it("is neither created nor deleted by Wave", async () => {
    expect(await publish(one)).toBeUndefined();
    expect(api.writes).toEqual([]);
    await install(service);
    await registration().withdraw(signal);
    expect(stored("wave-webhook")).toBeDefined();
  });
});

describe("a registration that Wave creates", () => {
  const registration = (url = "https://127.0.0.1:9443", namespaces?: readonly string[]) =>
    ownRegistration(api, new URL(url), { namespaces });

  it.each([
    ["https://127.0.0.1:9443", "wave-127.0.0.1-9443"],
    ["https://[::1]:9443", "wave-1-9443"],
    ["https://Wave.Example", "wave-wave.example"],
  ])("for %s has the name %s", (url, name) => {
    expect(registration(url).name).toBe(name);
  });

  it("is created, corrected and deleted", async () => {
    const { name } = registration();
    await registration().publish(undefined, { trusted: [one], token }, signal);
    const made = stored(name);
    expect(made?.webhooks[0]?.clientConfig).toEqual({
      url: `https://127.0.0.1:9443/mutate/${token}`,
      caBundle: base64(writeBundle([one])),
    });
    const writes = [...api.writes];
    await registration().publish(await registration().read(signal), { trusted: [one], token }, signal);
    expect(api.writes).toEqual(writes);

    const body = [{ op: "replace", path: "/webhooks/0/timeoutSeconds", value: 30 }];
    await api.request({ method: "PATCH", path: `${configurations}/${name}`, body });
    await registration().publish(await registration().read(signal), { trusted: [one], token }, signal);
    expect(stored(name)?.webhooks).toEqual(made?.webhooks);

    await registration().withdraw(signal);
    await registration().withdraw(signal);
    expect(stored(name)).toBeUndefined();
  });

  it("covers only the namespaces that Wave watches", async () => {
    await registration(undefined, ["a", "b"]).publish(undefined, { trusted: [], token }, signal);
    expect(stored("wave-127.0.0.1-9443")?.webhooks[0]).toMatchObject({
      clientConfig: { url: `https://127.0.0.1:9443/mutate/${token}` },
      namespaceSelector: {
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["a", "b"] }],
      },
    });
  });
});

describe("warnIfNotRegistered", () => {
  it("logs each problem once with the next step, and its end", async () => {
    const api = new MemoryApi();
    const logged: string[] = [];
    const log = {
      ...silentLogger,
      warn: (message: string) => void logged.push(`warn ${message}`),
      info: (message: string) => void logged.push(`info ${message}`),
    };
    const registration = warnIfNotRegistered(installedRegistration(api, service), service, log);
    const read = async () => {
      logged.length = 0;
      await registration.read(signal);
      await registration.read(signal);
      return [...logged];
    };
    const install = (namespace: string) => {
      const clientConfig = { service: { ...service, namespace } };
      const body = webhookConfiguration({ name: registration.name, clientConfig, namespaces: undefined });
      return api.request({ method: "POST", path: configurations, body });
    };
    const remove = () => api.request({ method: "DELETE", path: `${configurations}/${registration.name}` });

    expect(await read()).toEqual([
      "warn no API server calls the webhook: MutatingWebhookConfiguration not found; install it, or set --webhook-service-name, or outside the cluster --webhook-url",
    ]);
    await install("elsewhere");
    expect(await read()).toEqual([
      "warn no API server calls the webhook: the MutatingWebhookConfiguration does not name its Service; correct clientConfig.service",
    ]);
    await remove();
    await install("wave");
    expect(await read()).toEqual(["info the MutatingWebhookConfiguration names the webhook again"]);
    await remove();
    expect(await read()).toHaveLength(1);
  });
});
