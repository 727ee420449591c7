import { describe, expect, it } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  type WorkloadFixture,
  workload,
  workloadObject,
} from "../../../../test/support/domain/objects.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import type { ReadConfig, ReadConfigs } from "../read/configs.ts";
import type { FoundWorkload } from "../read/pods.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { batchesNow } from "./batches-now.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const policy: KnownPolicy = {
  ...defaultPolicy,
  pacing: { ...unpaced, maxConcurrent: 50 },
  keys: { state: "not requested", why: "" },
  kinds: builtInKinds,
};
const page = { kind: "ConfigMap", namespace: "default", name: "page" } as const;

/** Returns a complete workload with an outdated hash. */
function stale(
  name: string,
  annotations: WorkloadFixture["annotations"] = {},
  objects: readonly string[] = ["page"],
): FoundWorkload {
  const wanted: WorkloadFixture = {
    metadata: { name, annotations: { "wave.pusher.com/update-on-config-change": "true", ...annotations } },
    pod: { containers: objects.flatMap((object) => readsAll("ConfigMap", object).containers ?? []) },
    spec: { replicas: 0 },
    templateAnnotations: { "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}` },
  };
  return { object: workloadObject(wanted), workload: workload(wanted) };
}

/** Counts the lookups of objects. */
class CountedReads extends Map<string, ReadConfig> implements ReadConfigs {
  lookups = 0;
  override get(key: string): ReadConfig | undefined {
    this.lookups++;
    return super.get(key);
  }
}

const readsOfPage = () =>
  new CountedReads([["ConfigMap/default/page", { state: "present", config: configMap("page", { a: "1" }) }]]);

function admitted(found: readonly FoundWorkload[], read: ReadConfigs = readsOfPage()): readonly string[] {
  const { holdOf } = batchesNow({ found, read, policy, now });
  return found.filter((each) => holdOf(each.workload, [page]) === undefined).map(({ workload: { name } }) => name);
}

describe("the batches that a command derives", () => {
  it("admit the same workloads first as Wave does", () => {
    expect(admitted([stale("b"), stale("a"), stale("c")])).toEqual(["a"]);
    expect(admitted([stale("b"), stale("a"), stale("c", { "wave.pusher.com/priority": "1" })])).toEqual(["c"]);
    expect(admitted([stale("b"), stale("a", { "wave.pusher.com/batches": "off" })])).toContain("b");
  });

  it("admit another workload instead of one that a second change holds", () => {
    const both = ["page", "other"];
    const found = [
      stale("a", {}, both),
      stale("b"),
      stale("c"),
      stale("z", { "wave.pusher.com/priority": "1" }, ["other"]),
      stale("y", {}, ["other"]),
    ];
    const read: ReadConfigs = new Map([
      ...readsOfPage(),
      ["ConfigMap/default/other", { state: "present", config: configMap("other", { a: "1" }) }],
    ]);
    const { holdOf } = batchesNow({ found, read, policy, now });
    const objectsOf = ({ workload: { references } }: FoundWorkload) =>
      references.map(({ kind, namespace, name }) => ({ kind, namespace, name }));
    const free = found.filter((each) => holdOf(each.workload, objectsOf(each)) === undefined);
    expect(free.map(({ workload: { name } }) => name)).toEqual(["b", "z"]);
    expect(holdOf(found[0]?.workload as FoundWorkload["workload"], [page])?.reason).toBe("batch");
  });

  it("are of the last change of the content, not of a label", () => {
    const time = (second: number) => new Date(now - 3_600_000 + 1_000 * second).toISOString();
    const entry = (manager: string, second: number, fieldsV1: object) => ({ manager, time: time(second), fieldsV1 });
    const edited = entry("kubectl-edit", 10, { "f:data": { "f:a": {} } });
    const labelled = entry("kubectl-label", 30, { "f:metadata": { "f:labels": {} } });
    const metadata = { creationTimestamp: time(0), managedFields: [edited, labelled] };
    const config = configMap("page", { a: "1" }, metadata);
    const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "a" } } }];
    const wanted = { metadata: { name: "canary" }, pod: { containers: [{ name: "web", env }] } };
    const { hash } = planRollout(workload(wanted), lookupOf(config), policy) as {
      readonly hash: string;
    };
    const failed = {
      progress: { state: "failed" },
      rolledAt: Date.parse(time(20)) / 1_000,
      recordedHash: hash,
    } as const;
    const canary = { object: workloadObject(wanted), workload: { ...workload(wanted), ...failed } };
    const read: ReadConfigs = new Map([["ConfigMap/default/page", { state: "present", config }]]);
    const { groupOf } = batchesNow({ found: [canary, stale("web")], read, policy, now });
    expect(groupOf(page, "default").members.map(({ stage }) => stage.state)).toContain("failed");
  });

  it("read each workload once, not once for each other workload", () => {
    const lookupsFor = (count: number) => {
      const read = readsOfPage();
      expect(
        admitted(
          Array.from({ length: count }, (_, i) => stale(`web-${i}`)),
          read,
        ),
      ).toHaveLength(1);
      return read.lookups;
    };
    expect(lookupsFor(400)).toBeLessThan(5 * lookupsFor(100));
  });
});
