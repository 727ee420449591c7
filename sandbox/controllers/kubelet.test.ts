import { expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import type { Json } from "../objects/json.ts";
import { resources } from "../objects/resources.ts";
import { answerCall } from "../requests/api-call.ts";
import { startApiServer } from "../requests/api-server.ts";

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
