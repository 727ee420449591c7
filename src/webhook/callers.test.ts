import { describe, expect, it } from "vitest";
import { MemoryApi } from "../../test/support/memory-api.ts";
import { resourcePath, resources } from "../kube/api/resources.ts";
import { silentLogger } from "../telemetry/logging/log.ts";
import { warnWhereNotCalled } from "./callers.ts";
import { webhookConfiguration } from "./certificates/configuration.ts";
import { installedRegistration } from "./certificates/registration.ts";

const { signal } = new AbortController();
const configurations = resourcePath(resources.mutatingWebhookConfigurations);
const service = { namespace: "wave", name: "wave-webhook" };

describe("an installed registration through which the API server does not call Wave", () => {
  it("is told of once for each reason, with what to do, and so is its end", async () => {
    const api = new MemoryApi();
    const said: string[] = [];
    const log = {
      ...silentLogger,
      warn: (message: string) => void said.push(`warn ${message}`),
      info: (message: string) => void said.push(`info ${message}`),
    };
    const registration = warnWhereNotCalled(installedRegistration(api, service), service, log);
    const read = async () => {
      said.length = 0;
      await registration.read(signal);
      await registration.read(signal);
      return [...said];
    };
    const install = (namespace: string) => {
      const clientConfig = { service: { ...service, namespace } };
      const body = webhookConfiguration({ name: registration.name, clientConfig, namespaces: undefined });
      return api.request({ method: "POST", path: configurations, body });
    };
    const remove = () => api.request({ method: "DELETE", path: `${configurations}/${registration.name}` });

    expect(await read()).toEqual([
      'warn there is no MutatingWebhookConfiguration "wave-webhook", so the API server asks Wave about no workload: install it, or name yours by --webhook-service-name; outside the cluster set --webhook-url',
    ]);
    await install("elsewhere");
    expect(await read()).toEqual([
      'warn MutatingWebhookConfiguration "wave-webhook" has no webhook for the Service "wave-webhook" in namespace "wave", so the API server asks Wave about no workload: correct its clientConfig.service',
    ]);
    await remove();
    await install("wave");
    expect(await read()).toEqual(["info the API server calls the webhook now"]);
    await remove();
    expect(await read()).toHaveLength(1);
  });
});
