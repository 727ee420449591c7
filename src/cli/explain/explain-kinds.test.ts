import { expect, it } from "vitest";
import { configMap, defaultPolicy, unpaced } from "../../../test/support/domain/objects.ts";
import { standardForm } from "../../domain/model/kind-row.ts";
import { parseRequestedKind, type RequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { explainWorkload } from "../cluster/explanation/explanation.ts";
import { renderExplanation } from "./explain-text.ts";

/** Explains an object of a kind that reads the ConfigMap `page` and has this hash in its pod template, or no hash. */
function explained(kind: string, recorded: string | undefined, status: object = {}) {
  const wanted = parseRequestedKind(kind) as RequestedKind;
  const row = requestedKindRow(wanted, { apiVersion: "batch/v1", kind: "Any" });
  const template = {
    metadata: { annotations: recorded === undefined ? {} : { "wave.pusher.com/config-hash": recorded } },
    spec: { containers: [{ name: "main", envFrom: [{ configMapRef: { name: "page" } }] }] },
  };
  const annotations = { "wave.pusher.com/update-on-config-change": "true" };
  const object = {
    metadata: { namespace: "default", name: "nightly", annotations },
    spec: kind === "cronjobs.batch" ? { jobTemplate: { spec: { template } } } : { template },
    status,
  } as unknown as WorkloadObject;
  const explanation = explainWorkload({
    found: { object: standardForm(row, object), workload: toWorkload(row, object) },
    read: new Map([["ConfigMap/default/page", { state: "present", config: configMap("page", { a: "1" }) }]]),
    policy: { ...defaultPolicy, pacing: unpaced, keys: { state: "not requested", why: "" }, kinds: [row] },
    pods: { state: "read", of: () => [], terminating: () => [] },
    ...{ now: 0, batch: undefined, kubernetes: null, others: [], unnamed: undefined, gaps: [] },
  });
  return { ...explanation, text: renderExplanation(explanation, { now: 0 }) };
}

const other = `v2:${"0".repeat(64)}`;

it("runs a CronJob once for a change, not for its first hash, and shows no Pods", () => {
  expect(explained("cronjobs.batch", undefined).text).toMatch(/^Now +Wave records the first hash\. Nothing runs\.$/m);
  const due = explained("cronjobs.batch", other);
  expect(due.text).toMatch(/^Now +Wave rolls this workload\. The job runs once, in addition to its schedule\.$/m);
  expect(due).toMatchObject({ strategy: "run", pods: null });
  const current = explained("cronjobs.batch", due.currentHash ?? "");
  expect(current).toMatchObject({ state: "current", pods: null });
  expect(current.text).not.toMatch(/^Pods/m);
});

it("recreates a Job for a change, and reports a completed Job as current", () => {
  const due = explained("jobs.batch", other);
  expect(due.text).toMatch(/^Now +Wave rolls this workload\. Wave recreates the object with the same name\.$/m);
  const conditions = [{ type: "Complete", status: "True" }];
  expect(explained("jobs.batch", due.currentHash ?? "", { conditions })).toMatchObject({
    state: "current",
    pods: null,
  });
});
