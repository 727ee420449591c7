import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import { planAdmission, toAdmissionObject } from "../admission/admission.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { patchFor } from "../patch/workload-patch.ts";
import type { Policy } from "../policy/policy.ts";
import { providerClasses } from "../references/annotations.ts";
import { limits } from "../references/references.ts";
import type { Config } from "./digest.ts";
import { classConfig } from "./recorded-digests.ts";

const on: Policy = { ...defaultPolicy, providerClasses: true };
const volumeOf = (className: string, driver = "secrets-store.csi.k8s.io") => ({
  name: `of-${className}`,
  csi: { driver, readOnly: true, volumeAttributes: { secretProviderClass: className } },
});
const mounting = (...classNames: readonly string[]) =>
  workloadObject({ pod: { ...readsAll("ConfigMap", "web"), volumes: classNames.map((name) => volumeOf(name)) } });

const web = configMap("web", { a: "1" });
const edited = configMap("web", { a: "2" });
/** Returns the known versions of a class, from a mount or from a rotation. */
const known = (version: string, since: number, how: "mounted" | "rotated", name = "vault") =>
  classConfig({ namespace: "default", name }, { digest: version.repeat(32), since, rotated: how === "rotated" });

/** Returns the object with a patch, or unchanged without one. */
function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return patch === undefined ? object : asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

/** A workload and the repeated plans and writes of Wave. */
class Story {
  object: WorkloadObject;
  readonly #policy: Policy;

  constructor(object: WorkloadObject, policy = on) {
    this.object = object;
    this.#policy = policy;
  }

  /** Plans and writes once. Returns the outcome. */
  with(...configs: readonly Config[]): string {
    const workload = toWorkload(kinds.Deployment, this.object, this.#policy);
    const plan = planRollout(workload, lookupOf(...configs), this.#policy);
    const patch = patchFor(workload, plan);
    this.object = patched(this.object, patch);
    return plan.outcome;
  }

  get recorded(): string | undefined {
    return this.object.metadata?.annotations?.[providerClasses];
  }

  get template(): unknown {
    return this.object.spec?.template;
  }
}

/** A workload whose hash and first versions are recorded. */
function settled(): Story {
  const story = new Story(mounting("vault"));
  expect([story.with(web), story.with(web, known("a", 10, "mounted"))]).toEqual(["firstHash", "recorded"]);
  return story;
}

describe("a workload that mounts a SecretProviderClass", () => {
  it("starts before its versions are known, and the first versions replace no Pods", () => {
    const story = new Story(mounting("vault"));
    expect(story.with(web)).toBe("firstHash");
    expect(story.with(web)).toBe("current");
    const { template } = story;
    expect(story.with(web, known("a", 10, "mounted"))).toBe("recorded");
    expect(story.template).toEqual(template);
    expect(story.with(web, known("a", 10, "mounted"))).toBe("current");
  });

  it("has known versions in its first hash", () => {
    const story = new Story(mounting("vault"));
    expect(story.with(web, known("a", 10, "mounted"))).toBe("firstHash");
    expect(story.recorded).toMatch(/^vault 10 [0-9a-f]{64}$/);
    expect(story.with(web, known("a", 10, "mounted"))).toBe("current");
    expect(story.with(web)).toBe("current");
  });

  it("rolls once for a rotation, and not for mounts of its new Pods", () => {
    const story = settled();
    expect(story.with(web, known("b", 20, "rotated"))).toBe("roll");
    for (const config of [known("b", 20, "rotated"), known("b", 25, "mounted"), known("c", 30, "mounted")]) {
      expect(story.with(web, config)).toBe("current");
    }
    expect(story.with(web, known("d", 40, "rotated"))).toBe("roll");
  });

  it("does not roll if the versions become unknown or older", () => {
    const story = settled();
    expect(story.with(web, known("b", 20, "rotated"))).toBe("roll");
    expect(story.with(web)).toBe("current");
    expect(story.with(web, known("a", 15, "rotated"))).toBe("current");
    expect(story.with(edited)).toBe("roll");
    expect(story.with(edited, known("b", 20, "rotated"))).toBe("current");
  });

  it("records each of two classes when its versions are known", () => {
    const story = new Story(mounting("vault", "other"));
    expect(story.with(web)).toBe("firstHash");
    expect(story.with(web, known("a", 10, "mounted"))).toBe("recorded");
    expect(story.with(web, known("a", 10, "mounted"), known("x", 10, "mounted", "other"))).toBe("recorded");
    expect(story.recorded?.split(",").map((each) => each.split(" ")[0])).toEqual(["other", "vault"]);
    expect(story.with(web, known("x", 10, "mounted", "other"))).toBe("current");
  });

  it("rolls for an edit at the time of its first versions", () => {
    const story = new Story(mounting("vault"));
    expect([story.with(web), story.with(edited, known("a", 10, "mounted"))]).toEqual(["firstHash", "roll"]);
    expect(story.recorded).toMatch(/^vault 10 /);
  });

  it("records the versions again if another client removed them", () => {
    const story = settled();
    const annotations = { ...story.object.metadata?.annotations };
    delete annotations[providerClasses];
    story.object = { ...story.object, metadata: { ...story.object.metadata, annotations } };
    expect(story.with(web, known("a", 10, "mounted"))).toBe("recorded");
    expect(story.with(web)).toBe("current");
  });

  it.each(["vault", "vault 10", `vault x ${"0".repeat(64)}`, `../x 10 ${"0".repeat(64)}`, ",,,", "vault 10 0\n"])(
    "ignores an invalid record %j",
    (text) => {
      const story = settled();
      const annotations = { ...story.object.metadata?.annotations, [providerClasses]: text };
      story.object = { ...story.object, metadata: { ...story.object.metadata, annotations } };
      expect(story.with(web, known("a", 10, "mounted"))).toBe("recorded");
      expect(story.recorded).toMatch(/^vault 10 [0-9a-f]{64}$/);
    },
  );

  it("fails to write if another client changed the record", () => {
    const recordTest = ({ object }: Story, ...configs: readonly Config[]) => {
      const workload = toWorkload(kinds.StatefulSet, object, on);
      const patch = patchFor(workload, planRollout(workload, lookupOf(...configs), on)) ?? [];
      return patch.find(({ op, path }) => op === "test" && path.includes("secret-provider-classes"));
    };
    expect(recordTest(new Story(mounting("vault")), web)).toMatchObject({ value: null });
    const story = settled();
    expect(recordTest(story, edited)).toMatchObject({ value: story.recorded });
    expect(recordTest(new Story(mounting()), web)).toMatchObject({ value: null });
  });

  it("loses the record when it mounts no class", () => {
    const story = settled();
    const { template } = mounting().spec ?? {};
    const annotations = story.object.spec?.template?.metadata?.annotations;
    const spec = { ...story.object.spec, template: { ...template, metadata: { ...template?.metadata, annotations } } };
    story.object = { ...story.object, spec } as WorkloadObject;
    expect(story.with(web)).toBe("recorded");
    expect(story.recorded).toBeUndefined();
    expect(story.with(web)).toBe("current");
  });

  it("reports the rotated class", () => {
    const story = settled();
    const workload = toWorkload(kinds.Deployment, story.object, on);
    const before = planRollout(workload, lookupOf(web), on);
    const seen = "view" in before ? before.view : undefined;
    const plan = planRollout(workload, lookupOf(web, known("b", 20, "rotated")), on, seen);
    expect(plan.reason).toBe('SecretProviderClass "vault" was rotated');
  });

  it("exceeds its limit with too many classes", () => {
    const names = Array.from({ length: limits.providerClasses.max + 1 }, (_, index) => `c${index}`);
    expect(new Story(mounting(...names)).with(web)).toBe("overLimit");
    expect(new Story(mounting(...names.slice(1))).with(web)).toBe("firstHash");
  });

  it("tracks no classes if the feature is off, and no volumes of other drivers", () => {
    const off = new Story(mounting("vault"), defaultPolicy);
    expect([off.with(web), off.with(web, known("b", 20, "rotated"))]).toEqual(["firstHash", "current"]);
    expect(off.recorded).toBeUndefined();
    const pod = { ...readsAll("ConfigMap", "web"), volumes: [volumeOf("vault", "other.csi.k8s.io")] };
    const other = new Story(workloadObject({ pod }));
    expect([other.with(web), other.with(web, known("b", 20, "rotated"))]).toEqual(["firstHash", "current"]);
  });

  it("does not roll when the feature is turned off and on", () => {
    const story = settled();
    expect(story.with(web, known("b", 20, "rotated"))).toBe("roll");
    const { template } = story;
    const off = new Story(story.object, defaultPolicy);
    expect([off.with(web), off.with(web)]).toEqual(["recorded", "current"]);
    expect(off.recorded).toBeUndefined();
    const again = new Story(off.object);
    const now = known("b", 20, "rotated");
    expect([again.with(web, now), again.with(web, now), again.with(web)]).toEqual(["recorded", "current", "current"]);
    expect(again.template).toEqual(template);
    expect(again.with(web, known("c", 30, "rotated"))).toBe("roll");
  });

  it("rolls for an edit while the feature is turned off", () => {
    const story = settled();
    story.with(web, known("b", 20, "rotated"));
    const off = new Story(story.object, defaultPolicy);
    expect([off.with(edited), off.with(edited)]).toEqual(["roll", "current"]);
    expect(off.recorded).toBeUndefined();
  });

  it("behaves the same with a hash key", () => {
    const policy = { ...on, hashKeys: testKeys(1) };
    const story = new Story(mounting("vault"), policy);
    expect([story.with(web), story.with(web, known("a", 10, "mounted"))]).toEqual(["firstHash", "recorded"]);
    expect([story.with(web), story.with(web, known("b", 20, "rotated"))]).toEqual(["current", "roll"]);
  });
});

describe("admission of a workload that mounts a SecretProviderClass", () => {
  const review = (after: WorkloadObject, before: WorkloadObject | undefined, ...configs: readonly Config[]) => {
    const [now, old] = [after, before].map((object) => object && toAdmissionObject(kinds.Deployment, object, on));
    if (now === undefined) throw new Error("nothing is admitted");
    return planAdmission(before ? "UPDATE" : "CREATE", now, old, lookupOf(web, ...configs), on);
  };

  it("writes the hash and the record of known versions, so that the controller writes nothing", () => {
    const { outcome, patch } = review(mounting("vault"), undefined, known("a", 10, "mounted"));
    expect(outcome).toBe("hashed");
    const story = new Story(patched(mounting("vault"), patch));
    expect(story.recorded).toMatch(/^vault 10 /);
    expect(story.with(web, known("a", 10, "mounted"))).toBe("current");
  });

  it("holds no Pods if no version is known", () => {
    expect(review(mounting("vault"), undefined).outcome).toBe("hashed");
  });

  it("replaces no Pods if the request keeps them, even after a rotation", () => {
    const { object } = settled();
    const scaled = { ...object, spec: { ...object.spec, replicas: 3 } } as WorkloadObject;
    expect(review(scaled, object, known("b", 20, "rotated")).patch).toBeUndefined();
  });
});

it("in any order of reports of a class, only a later rotation to other versions or an edit replaces Pods", () => {
  const heard = fc.record({
    version: fc.constantFrom("a", "b", "c"),
    since: fc.integer({ min: 0, max: 9 }),
    how: fc.constantFrom("mounted" as const, "rotated" as const),
  });
  const steps = fc.array(fc.tuple(fc.boolean(), fc.option(heard)), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (history) => {
      const story = new Story(mounting("vault"));
      story.with(web);
      let content = false;
      for (const [edits, report] of history) {
        const [, since, digest] = story.recorded?.split(" ") ?? [];
        const { template } = story;
        const config = report === null ? [] : [known(report.version, report.since, report.how)];
        story.with(edits ? edited : web, ...config);
        const rotated =
          report?.how === "rotated" &&
          digest !== undefined &&
          report.since >= Number(since) &&
          digest !== Buffer.from(report.version.repeat(32)).toString("hex");
        expect(story.template !== template && JSON.stringify(story.template) !== JSON.stringify(template)).toBe(
          edits !== content || rotated,
        );
        // The record stays valid for a process that knows no versions.
        expect([story.with(edits ? edited : web, ...config), story.with(edits ? edited : web)]).toEqual([
          "current",
          "current",
        ]);
        content = edits;
      }
    }),
  );
});
