import { expect, it } from "vitest";
import { ConnectionError } from "../kube/errors.ts";
import { FakeClock } from "../lib/fake-clock.ts";
import { kinds } from "../rollout/kinds.ts";
import { configMap, defaultPolicy, lookupOf, workloadObject } from "../rollout/test-objects.ts";
import { toWorkload } from "../rollout/workload.ts";
import { soleLeadership } from "./leadership.ts";
import { reconcile } from "./reconciler.ts";
import { newRecord } from "./workload-record.ts";

const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, ""]));
const readsAll = { containers: [{ name: "web", envFrom: [{ configMapRef: { name: "web" } }] }] };

it("of a write without an answer nothing is kept that grows with what Pods see: all workloads may be without one", async () => {
  const workload = toWorkload(kinds.Deployment, workloadObject({ pod: readsAll }));
  const lookup = lookupOf(configMap("web", wide));
  const record = newRecord();
  const outcome = await reconcile(
    { key: "Deployment/default/web", record, takeTurn: () => true, giveBackTurn: () => {}, wave: undefined },
    {
      client: { request: () => Promise.reject(new ConnectionError("broken")) },
      caches: { lookup, heardUpTo: () => 0, workload: () => workload },
      live: {
        lookup: async () => lookup,
        exist: async () => true,
        workload: async () => workload,
        legacy: async () => undefined,
      },
      policy: defaultPolicy,
      leadership: soleLeadership(new AbortController().signal),
      clock: new FakeClock(),
      views: { remember: () => {} },
    },
  );
  expect(outcome.type).toBe("unavailable");
  expect(record.uncertain).toMatchObject({ hash: expect.stringMatching(/^v2:/), plan: { outcome: "baseline" } });
  expect(JSON.stringify(record).length).toBeLessThan(10_000);
});
