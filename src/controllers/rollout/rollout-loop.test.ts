import { expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, workloadObject } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { ApiError, ConnectionError } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { RememberedViews } from "./memory/remembered-views.ts";
import { type Findings, newFindings, newMemory, type Writable } from "./memory/workload-memory.ts";
import type { ReconcileOptions } from "./plan-workload.ts";
import { reconcile } from "./rollout-loop.ts";

const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, ""]));
const readsAll = { containers: [{ name: "web", envFrom: [{ configMapRef: { name: "web" } }] }] };

const run = (findings: Writable<Findings> = newFindings()) => ({
  key: "Deployment/default/web",
  memory: newMemory(),
  findings,
  takePermit: () => true,
  returnPermit: () => {},
  takeNotePermit: () => true,
  batch: undefined,
});
const workload = toWorkload(kinds.Deployment, workloadObject({ pod: readsAll }));

/** Returns the options of a reconciler whose requests are answered by `request`. */
function options(request: ApiClient["request"], lookup: Lookup): ReconcileOptions {
  return {
    client: { request, stream: request as never },
    caches: {
      lookup,
      syncedUpTo: () => 0,
      absentSince: () => undefined,
      workload: () => workload,
      kinds: () => [],
      copiesIn: () => [],
    },
    live: {
      lookup: async () => lookup,
      firstLookup: async () => lookup,
      exist: async () => true,
      workload: async () => workload,
      legacy: async () => undefined,
    },
    pods: { of: async () => ({ times: { scheduledAt: 0, envAt: 0 }, listedUpTo: 0 }) },
    policy: defaultPolicy,
    leadership: soleLeadership(new AbortController().signal),
    webhooks: true,
    newPods: () => undefined,
    log: silentLogger,
    clock: new FakeClock(),
    views: new RememberedViews(() => {}),
    reading: new Set(),
  };
}

it("treats a stored object that is no longer a valid workload as gone, not as a bug", async () => {
  const lookup = lookupOf(configMap("web", { a: "1" }));
  const { metadata } = workloadObject();
  const malformed = async () => ({ metadata }) as never;
  expect(await reconcile(run(), options(malformed, lookup))).toEqual({ type: "gone" });
  const refusal = { request: "patch", status: 422, reason: "Invalid", serverMessage: "", retryAfterMs: undefined };
  const changed: ApiClient["request"] = ({ method }) =>
    method === "PATCH" ? Promise.reject(new ApiError(refusal)) : malformed();
  expect(await reconcile(run(), options(changed, lookup))).toEqual({ type: "gone" });
});

it("treats a hash that the API server removes on write as a refusal, and does not write it again and again", async () => {
  const lookup = lookupOf(configMap("web", { a: "1" }));
  const findings = newFindings();
  const pruned = async () => workloadObject({ pod: readsAll }) as never;
  expect(await reconcile(run(findings), options(pruned, lookup))).toMatchObject({
    type: "refused",
    message: expect.stringContaining("Allow spec.template.metadata.annotations in the schema of deployments.apps"),
  });
  expect(findings.lastWrite).toBeUndefined();
});

it("keeps nothing of an uncertain write that grows with the configuration: all workloads may have one", async () => {
  const lookup = lookupOf(configMap("web", wide));
  const findings = newFindings();
  const broken = () => Promise.reject(new ConnectionError("broken"));
  const outcome = await reconcile(run(findings), options(broken, lookup));
  expect(outcome.type).toBe("unavailable");
  expect(findings.uncertainWrite).toMatchObject({
    plan: { outcome: "firstHash", hash: expect.stringMatching(/^v2:/) },
  });
  expect(JSON.stringify(findings).length).toBeLessThan(10_000);
});
