import { describe, expect, it } from "vitest";
import { configMaps, create, start } from "../test/support/sandbox-client.ts";
import { type Sandbox, startSandbox } from "./sandbox.ts";

async function managers(sandbox: Sandbox, path: string): Promise<string[]> {
  const object = (await (await fetch(sandbox.url + path)).json()) as {
    metadata: { managedFields?: { manager: string }[] };
  };
  return (object.metadata.managedFields ?? []).map(({ manager }) => manager);
}

describe("a sandbox", () => {
  it("gives a kubeconfig whose server and namespace are there", async () => {
    const sandbox = await start();
    expect(sandbox.kubeconfig()).toMatchObject({
      clusters: [{ cluster: { server: sandbox.url } }],
      "current-context": "sandbox",
    });
    expect((await fetch(`${sandbox.url}/api/v1/namespaces/default`)).status).toBe(200);
    expect(await (await fetch(`${sandbox.url}/readyz`)).text()).toBe("ok");
  });

  it("says which port is in use", async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    await expect(startSandbox({ port })).rejects.toThrow(
      `the sandbox cannot listen on 127.0.0.1:${port}: the port is in use`,
    );
  });

  it("records requests in Kubernetes' words", async () => {
    const sandbox = await start();
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    await fetch(`${sandbox.url}${configMaps}`);
    const common = { resource: "configmaps", namespace: "default" };
    expect(sandbox.requests).toMatchObject([
      { ...common, verb: "create", status: 201, userAgent: "tester/1" },
      { ...common, verb: "create", status: 409 },
      { ...common, verb: "list", status: 200 },
    ]);
  });

  it("names the field manager after the user agent", async () => {
    const sandbox = await start();
    await create(sandbox, configMaps, { metadata: { name: "a" }, data: { a: "b" } });
    expect(await managers(sandbox, `${configMaps}/a`)).toEqual(["tester"]);
  });

  it("makes no Pods where controllers are off, and still takes dependents along", async () => {
    const sandbox = await start({ controllers: false });
    const owner = (await (await create(sandbox, configMaps, { metadata: { name: "owner" } })).json()) as {
      metadata: { uid: string };
    };
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid }];
    await create(sandbox, configMaps, { metadata: { name: "owned", ownerReferences } });
    await fetch(`${sandbox.url}${configMaps}/owner`, { method: "DELETE" });
    await expect.poll(async () => (await fetch(`${sandbox.url}${configMaps}/owned`)).status).toBe(404);
    expect(await (await fetch(`${sandbox.url}/api/v1/nodes`)).json()).toMatchObject({ items: [] });
  });

  it("keeps a Pod in ContainerCreating until the Secret that it mounts exists", async () => {
    const sandbox = await start({ podDelayMs: 1 });
    const volumes = [{ name: "v", secret: { secretName: "late" } }];
    const pods = "/api/v1/namespaces/default/pods";
    await create(sandbox, pods, {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "c" }], volumes },
    });
    const waiting = async () => JSON.stringify(await (await fetch(`${sandbox.url}${pods}/p`)).json());
    await expect.poll(waiting).toContain('"waiting":{"reason":"ContainerCreating"}');
    await create(sandbox, "/api/v1/namespaces/default/secrets", { metadata: { name: "late" } });
    await expect.poll(waiting).toContain('"phase":"Running"');
  });

  it("empties a namespace that is deleted and refuses new objects in it", async () => {
    const sandbox = await start();
    await create(sandbox, "/api/v1/namespaces", { metadata: { name: "n" } });
    const held = { metadata: { name: "held", finalizers: ["example.com/held"] } };
    await create(sandbox, "/api/v1/namespaces/n/configmaps", held);
    await fetch(`${sandbox.url}/api/v1/namespaces/n`, { method: "DELETE" });
    expect((await create(sandbox, "/api/v1/namespaces/n/configmaps", { metadata: { name: "new" } })).status).toBe(403);
    await fetch(`${sandbox.url}/api/v1/namespaces/n/configmaps/held`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: '{"metadata":{"finalizers":null}}',
    });
    await expect.poll(async () => (await fetch(`${sandbox.url}/api/v1/namespaces/n`)).status).toBe(404);
  });

  it("never quotes a body that it cannot read", async () => {
    const sandbox = await start();
    const body = '{"stringData":{"password":"hunter2"';
    const response = await fetch(`${sandbox.url}/api/v1/namespaces/default/secrets`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain("hunter2");
  });
});
