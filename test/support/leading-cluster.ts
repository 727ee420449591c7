import { onTestFinished } from "vitest";
import { loadNamePatterns } from "../../src/domain/compatibility/stakater-directives.ts";
import type { Policy } from "../../src/domain/policy/policy.ts";
import { soleLeadership } from "../../src/runtime/write-permits.ts";
import { unpaced } from "./domain/objects.ts";
import { FakeClock } from "./fake-clock.ts";
import { TestCluster } from "./fake-cluster.ts";

/** Settings with only the annotations of Wave, and without any waiting. */
export const plainPolicy = {
  crossNamespace: "granted",
  namespaces: undefined,
  schedulingHold: true,
  pacing: unpaced,
} as const satisfies Policy;

/** Starts an API server without controllers: `startSandbox`, which only tests may import. */
type StartApiServer = (options: {
  readonly controllers: false;
  readonly clock: FakeClock;
}) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>;

/** A controller that leads and has listed what `create` made on its API server. Both end with the test. For tests only. */
export async function leadingCluster(
  startApiServer: StartApiServer,
  policy: Policy,
  create: (cluster: TestCluster) => Promise<void>,
): Promise<TestCluster> {
  await loadNamePatterns(policy.compatibility);
  const clock = new FakeClock();
  const server = await startApiServer({ controllers: false, clock });
  const cluster = new TestCluster(server.url, { policy }, clock);
  const stop = new AbortController();
  await create(cluster);
  await cluster.list();
  const done = cluster.controller.run(soleLeadership(stop.signal));
  onTestFinished(async () => {
    stop.abort();
    await done;
    cluster.close();
    await server.close();
  });
  return cluster;
}
