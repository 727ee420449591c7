import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { authoritySecret, defaultLifetimes } from "./authority.ts";
import type { ServingConfig } from "./certificate-loop.ts";
import { webhookConfiguration } from "./configuration.ts";
import { ownCertificates } from "./own-certificates.ts";
import { readBundle } from "./pem.ts";
import { installedRegistration } from "./registration.ts";

const { signal } = new AbortController();
const day = 86_400_000;
const service = { namespace: "wave", name: "wave-webhook" };
const configurations = resourcePath(resources.mutatingWebhookConfigurations);

describe("own certificates, over five years with the default lifetimes", () => {
  it("last at most 90 days, from authorities that began at most two years ago, and each authority has a new path", async () => {
    const api = new MemoryApi();
    const clock = new FakeClock();
    const body = webhookConfiguration({ name: service.name, clientConfig: { service }, namespaces: undefined });
    await api.request({ method: "POST", path: configurations, body });
    const registration = installedRegistration(api, service);
    const options = {
      registration,
      hosts: ["wave-webhook.wave.svc"],
      lifetimes: defaultLifetimes,
      clock,
      log: silentLogger,
    };
    const source = ownCertificates({ ...options, secret: authoritySecret(api, { namespace: "wave", name: "ca" }) });
    const paths = new Set<string | undefined>();
    const served: ServingConfig[] = [];
    const end = clock.wall() + 5 * 365 * day;
    while (clock.wall() < end) {
      const due = await source.reconcile(signal, async (now) => void served.push(now));
      const registered = await registration.read(signal);
      paths.add(registered?.token);
      expect(served.at(-1)?.tokens).toContain(registered?.token);
      const [current] = readBundle(registered?.trusted.map(({ pem }) => pem).join("") ?? "");
      expect(current?.notBefore).toBeGreaterThan(clock.wall() - 2 * 365 * day - day);
      await clock.advance(Math.max(due, 1000));
    }
    const lifeOf = ({ certificate }: ServingConfig) => {
      const { validFromDate, validToDate } = new X509Certificate(certificate);
      return validToDate.getTime() - validFromDate.getTime();
    };
    expect(Math.max(...served.map(lifeOf))).toBe(90 * day);
    expect(paths.size).toBeGreaterThanOrEqual(7);
    // Old paths are rejected.
    expect(served.at(-1)?.tokens.length).toBeLessThanOrEqual(2);
  });
});
