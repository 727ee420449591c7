import { describe, expect, it } from "vitest";
import {
  configMap,
  defaultPolicy,
  readsAll,
  type WorkloadFixture,
  workload,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { unpaced } from "../../domain/policy/pacing-flags.ts";
import { batchesNow } from "./batches-now.ts";
import type { KnownPolicy } from "./known-policy.ts";
import type { ReadConfig, ReadConfigs } from "./read-configs.ts";
import type { FoundWorkload } from "./read-workloads.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const policy: KnownPolicy = {
  ...defaultPolicy,
  pacing: { ...unpaced, maxConcurrent: 50, canarySize: 1 },
  keys: { state: "not asked for", why: "" },
  kinds: builtInKinds,
};
const page = { kind: "ConfigMap", namespace: "default", name: "page" } as const;

/** A complete workload whose hash is of other configuration. */
function stale(name: string, annotations: WorkloadFixture["annotations"] = {}): FoundWorkload {
  const wanted: WorkloadFixture = {
    metadata: { name, annotations: { "wave.pusher.com/update-on-config-change": "true", ...annotations } },
    pod: readsAll("ConfigMap", "page"),
    spec: { replicas: 0 },
    templateAnnotations: { "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}` },
  };
  return { object: workloadObject(wanted), workload: workload(wanted) };
}

/** Counts how often an object is looked at. */
class CountedReads extends Map<string, ReadConfig> implements ReadConfigs {
  looks = 0;
  override get(key: string): ReadConfig | undefined {
    this.looks++;
    return super.get(key);
  }
}

const readsOfPage = () =>
  new CountedReads([["ConfigMap/default/page", { state: "present", config: configMap("page", { a: "1" }) }]]);

function goes(found: readonly FoundWorkload[], read: ReadConfigs = readsOfPage()): readonly string[] {
  const { holdOf } = batchesNow({ found, read, policy, now });
  return found.filter((each) => holdOf(each.workload, [page]) === undefined).map(({ workload: { name } }) => name);
}

describe("the waves as a command sees them", () => {
  it("let those go first that Wave would let go first", () => {
    expect(goes([stale("b"), stale("a"), stale("c")])).toEqual(["a"]);
    expect(goes([stale("b"), stale("a"), stale("c", { "wave.pusher.com/priority": "1" })])).toEqual(["c"]);
    expect(goes([stale("b"), stale("a", { "wave.pusher.com/batches": "off" })])).toContain("b");
  });

  it("take a look at each workload, not one for each other workload", () => {
    const looksFor = (count: number) => {
      const read = readsOfPage();
      expect(
        goes(
          Array.from({ length: count }, (_, i) => stale(`web-${i}`)),
          read,
        ),
      ).toHaveLength(1);
      return read.looks;
    };
    expect(looksFor(400)).toBeLessThan(5 * looksFor(100));
  });
});
