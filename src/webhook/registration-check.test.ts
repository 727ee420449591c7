import { describe, expect, it } from "vitest";
import { MemoryApi } from "../../test/support/memory-api.ts";
import { resourcePath, resources } from "../kube/api/resources.ts";
import { silentLogger } from "../telemetry/logging/log.ts";
import { webhookConfiguration } from "./certificates/configuration.ts";
import { installedRegistration } from "./certificates/registration.ts";
import { warnIfNotRegistered } from "./registration-check.ts";

const { signal } = new AbortController();
const configurations = resourcePath(resources.mutatingWebhookConfigurations);
const service = { namespace: "wave", name: "wave-webhook" };

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
