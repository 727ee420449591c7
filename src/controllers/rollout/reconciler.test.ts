import { expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, workloadObject } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Lookup } from "../../domain/config/view.ts";
import { kinds } from "../../domain/model/built-in-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { ApiError, ConnectionError } from "../../kube/api/errors.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { soleLeadership } from "../../runtime/leadership.ts";
import { type ReconcileOptions, reconcile } from "./reconciler.ts";
import { newRecord, type WorkloadRecord } from "./record/workload-record.ts";

const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, ""]));
const readsAll = { containers: [{ name: "web", envFrom: [{ configMapRef: { name: "web" } }] }] };

const run = (record: WorkloadRecord) => ({
  key: "Deployment/default/web",
  record,
  takeTurn: () => true,
  giveBackTurn: () => {},
  batch: undefined,
});
const workload = toWorkload(kinds.Deployment, workloadObject({ pod: readsAll }));

/** What a reconciler works with that is answered so. */
function options(request: ApiClient["request"], lookup: Lookup): ReconcileOptions {
  return {
    client: { request },
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
  };
}

it("what is no workload any more when it is written or read again is gone, and no bug that is tried for ever", async () => {
  const lookup = lookupOf(configMap("web", { a: "1" }));
  const { metadata } = workloadObject();
  const malformed = async () => ({ metadata }) as never;
  expect(await reconcile(run(newRecord()), options(malformed, lookup))).toEqual({ type: "gone" });
  const refusal = { request: "patch", status: 422, reason: "Invalid", serverMessage: "", retryAfterMs: undefined };
  const changed: ApiClient["request"] = ({ method }) =>
    method === "PATCH" ? Promise.reject(new ApiError(refusal)) : malformed();
  expect(await reconcile(run(newRecord()), options(changed, lookup))).toEqual({ type: "gone" });
});

it("a hash that the API server drops as it writes it is a refusal, and not written again and again", async () => {
  const lookup = lookupOf(configMap("web", { a: "1" }));
  const record = newRecord();
  const pruned = async () => workloadObject({ pod: readsAll }) as never;
  expect(await reconcile(run(record), options(pruned, lookup))).toMatchObject({
    type: "refused",
    message: expect.stringContaining("deployments.apps have spec.template.metadata.annotations"),
  });
  expect(record.written).toBeUndefined();
});

it("of a write without an answer nothing is kept that grows with what Pods see: all workloads may be without one", async () => {
  const lookup = lookupOf(configMap("web", wide));
  const record = newRecord();
  const broken = () => Promise.reject(new ConnectionError("broken"));
  const outcome = await reconcile(run(record), options(broken, lookup));
  expect(outcome.type).toBe("unavailable");
  expect(record.uncertain).toMatchObject({ hash: expect.stringMatching(/^v2:/), plan: { outcome: "firstHash" } });
  expect(JSON.stringify(record).length).toBeLessThan(10_000);
});
