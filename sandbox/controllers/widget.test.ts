import { expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import type { Json } from "../objects/json.ts";
import { resources } from "../objects/resources.ts";
import { answerCall } from "../requests/api-call.ts";
import { startApiServer } from "../requests/api-server.ts";

it("Widgets exist when their API is served, and report the number of Pods with the newest template", async () => {
  const clock = new FakeClock();
  let served = false;
  const server = startApiServer({ clock, servesWidgets: () => served });
  const header = (name: string) => (name === "content-type" ? "application/merge-patch+json" : "application/json");
  const ask = async (method: string, path: string, body?: Json) => {
    const call = { method, path, query: new URLSearchParams(), header };
    const reply = await answerCall(server, { ...call, body: async () => body });
    return reply.type === "answer" ? reply.status : undefined;
  };
  const widgets = "/apis/example.com/v1/namespaces/default/widgets";
  const images = () =>
    server.registry.storage
      .list(resources.pods, "default")
      .map(({ spec }) => JSON.stringify(spec).match(/app:\d/)?.[0]);
  const status = () => server.registry.storage.get(resources.widgets, "default", "web")?.status;
  const templateOf = (image: string) => ({ spec: { containers: [{ name: "app", image }] } });
  const widget = { metadata: { name: "web" }, spec: { replicas: 2, template: templateOf("app:1") } };

  const before = await Promise.all([ask("GET", "/apis/example.com"), ask("POST", widgets, widget)]);
  expect(before).toEqual([404, 404]);
  served = true;
  expect([await ask("GET", "/apis/example.com/v1"), await ask("POST", widgets, widget)]).toEqual([200, 201]);
  await clock.advance(1_000);
  expect(images()).toEqual(["app:1", "app:1"]);
  await ask("PATCH", `${widgets}/web`, { spec: { template: templateOf("app:2") } });
  await clock.advance(1);
  expect(status()).toMatchObject({ observedGeneration: 2, updatedReplicas: 2, availableReplicas: 0 });
  await clock.advance(1_000);
  expect(images()).toEqual(["app:2", "app:2"]);
  expect(status()).toMatchObject({ updatedReplicas: 2, availableReplicas: 2 });
  server.stop();
});
