import { expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import type { Json } from "../objects/json.ts";
import { resources } from "../objects/resources.ts";
import { answerCall } from "../requests/api-call.ts";
import { startApiServer } from "../requests/api-server.ts";
import { restartContainers } from "./kubelet.ts";

it("a crashed Pod is not ready, and starts again when configuration of its namespace changes", async () => {
  const clock = new FakeClock();
  let broken = true;
  const { registry, stop } = startApiServer({ clock, crashes: () => broken });
  const write = (method: string, path: string, body: Json) =>
    answerCall(
      { registry, bookmarkMs: 10_000 },
      {
        method,
        path: `/api/v1/namespaces/default/${path}`,
        query: new URLSearchParams(),
        header: () => "application/json",
        body: async () => body,
      },
    );
  const status = () => registry.storage.get(resources.pods, "default", "app")?.status;

  await write("POST", "pods", { metadata: { name: "app" }, spec: { containers: [{ name: "app", image: "app" }] } });
  await clock.advance(1_000);
  expect(status()).toMatchObject({
    phase: "Running",
    containerStatuses: [{ ready: false, state: { waiting: { reason: "CrashLoopBackOff" } } }],
  });
  broken = false;
  await clock.advance(60_000);
  expect(status()).toMatchObject({ containerStatuses: [{ ready: false }] });
  await write("POST", "configmaps", { metadata: { name: "any" } });
  await clock.advance(1_000);
  expect(status()).toMatchObject({ containerStatuses: [{ ready: true }] });
  stop();
});

it("a container that restarts has another start, and waits for what is missing while the others run", async () => {
  const clock = new FakeClock();
  const { registry, stop } = startApiServer({ clock });
  const write = (method: string, path: string, body: Json) =>
    answerCall(
      { registry, bookmarkMs: 10_000 },
      {
        method,
        path: `/api/v1/namespaces/default/${path}`,
        query: new URLSearchParams(),
        header: () => "application/json",
        body: async () => body,
      },
    );
  const status = () => registry.storage.get(resources.pods, "default", "app")?.status;
  const env = [{ name: "V", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }];
  const containers = [
    { name: "app", image: "app", env },
    { name: "beside", image: "beside" },
  ];
  const initContainers = [{ name: "first", image: "first" }];
  await write("POST", "configmaps", { metadata: { name: "c" }, data: { k: "v" } });
  await write("POST", "pods", { metadata: { name: "app" }, spec: { initContainers, containers } });
  await clock.advance(10_000);
  const started = (status() as { readonly startTime: string }).startTime;
  expect(status()).toMatchObject({
    initContainerStatuses: [{ name: "first", state: { terminated: { startedAt: started } } }],
    containerStatuses: [{ restartCount: 0, state: { running: { startedAt: started } } }, { restartCount: 0 }],
  });

  restartContainers(registry, "default/app", ["app"]);
  const beside = { name: "beside", restartCount: 0, state: { running: { startedAt: started } } };
  expect(status()).toMatchObject({
    startTime: started,
    initContainerStatuses: [{ state: { terminated: { startedAt: started } } }],
    containerStatuses: [{ restartCount: 1, ready: true, state: { running: {} } }, beside],
  });
  expect(status()).not.toMatchObject({ containerStatuses: [{ state: { running: { startedAt: started } } }, beside] });

  await write("DELETE", "configmaps/c", {});
  restartContainers(registry, "default/app", ["first", "app"]);
  expect(status()).toMatchObject({
    phase: "Running",
    containerStatuses: [{ ready: false, state: { waiting: { reason: "CreateContainerConfigError" } } }, beside],
  });
  await write("POST", "configmaps", { metadata: { name: "c" }, data: { k: "w" } });
  await clock.advance(10_000);
  expect(status()).toMatchObject({ containerStatuses: [{ restartCount: 2, ready: true }, beside] });
  expect(status()).not.toMatchObject({ initContainerStatuses: [{ state: { terminated: { startedAt: started } } }] });
  stop();
});
