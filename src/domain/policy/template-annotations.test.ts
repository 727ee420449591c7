import { describe, expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { matchesObject } from "../model/cached-workload.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { toNamespacePolicy } from "./policy.ts";
import { rulesFor } from "./rules.ts";

const wave = (name: string) => `wave.pusher.com/${name}`;
const optIn = wave("update-on-config-change");
const pod = readsAll("ConfigMap", "web");

/** Returns a workload that has annotations only on its pod template, and more annotations of its own. */
function onTemplate(templateAnnotations: Record<string, string>, annotations: WorkloadFixture["annotations"] = {}) {
  const object = workloadObject({ pod, templateAnnotations, annotations: { [optIn]: undefined, ...annotations } });
  return { object, workload: toWorkload(kinds.Deployment, object) };
}

const messagesOf = ({ workload }: ReturnType<typeof onTemplate>) => workload.mistakes.map(({ message }) => message);

describe("annotations of Wave on a pod template", () => {
  it("opt the workload in, and are read again only after an edit of the pod template", () => {
    const { object, workload } = onTemplate({ [optIn]: "true" });
    expect(workload).toMatchObject({ optIn: { state: "in" }, references: [{ name: "web" }], mistakes: [] });
    expect(matchesObject(workload, object)).toBe(true);
    const optingOut = toNamespacePolicy({ metadata: { annotations: { [optIn]: "false" } } });
    expect(matchesObject(workload, object, { namespacePolicyOf: () => optingOut })).toBe(true);
    expect(matchesObject(workload, workloadObject({ pod, metadata: { generation: 4 } }))).toBe(false);
  });

  it("are no annotations of the workload for the tests of a patch", () => {
    const { workload } = onTemplate({ [optIn]: "true" });
    const plan = planRollout(workload, lookupOf(configMap("web", { a: "1" })), defaultPolicy);
    expect(plan.outcome).toBe("firstHash");
    const patch = patchFor(workload, plan) ?? [];
    expect(patch.filter(({ op, path }) => op === "test" && path.includes("update-on-config-change"))).toEqual([]);
    expect(patch).toContainEqual({ op: "test", path: "/metadata/generation", value: 3 });
  });

  it("come after those of the workload and before those of its Namespace", () => {
    expect(onTemplate({ [optIn]: "true" }, { [optIn]: "false" }).workload.optIn).toEqual({ state: "out" });
    const namespacePolicy = toNamespacePolicy({
      metadata: { annotations: { [optIn]: "true", [wave("settle")]: "1s", [wave("min-interval")]: "1m" } },
    });
    const settings = { [wave("settle")]: "2s", [wave("mode")]: "observe", [wave("priority")]: "1" };
    const { object, workload } = onTemplate(settings, { [wave("mode")]: "approve", [wave("priority")]: "" });
    expect(rulesFor(workload, { ...defaultPolicy, namespacePolicyOf: () => namespacePolicy })).toMatchObject({
      settleMs: { value: 2_000, by: "workload" },
      minIntervalMs: { value: 60_000, by: "namespace" },
      mode: { value: "approve" },
      priority: { value: 1 },
    });
    const refused = { ...object, spec: onTemplate({ [optIn]: "false" }).object.spec } as typeof object;
    const context = { namespacePolicyOf: () => namespacePolicy };
    expect(toWorkload(kinds.Deployment, refused, context).optIn).toEqual({ state: "out" });
  });

  it("name further objects, with the path of the pod template", () => {
    const extra = wave("extra-secrets");
    const { references } = onTemplate({ [optIn]: "true", [extra]: "db" }).workload;
    expect(references.find(({ name }) => name === "db")?.path).toBe(`spec.template.metadata.annotations[${extra}]`);
    const own = onTemplate({ [optIn]: "true", [extra]: "db" }, { [extra]: "other" }).workload;
    expect(own.references.map(({ name }) => name)).toEqual(["web", "other"]);
  });

  it("have a warning if they have no effect there", () => {
    expect(messagesOf(onTemplate({ [optIn]: "true", [wave("hold")]: "true" }))).toEqual([
      'Annotation "wave.pusher.com/hold" is ignored on the pod template. Move it to the metadata of the workload.',
    ]);
    expect(messagesOf(onTemplate({ [wave("update-on-config-chang")]: "true" }))).toEqual([
      `Annotation "wave.pusher.com/update-on-config-chang" is unknown. Did you mean ${optIn}?`,
    ]);
    expect(messagesOf(onTemplate({ [wave("config-hash")]: "v2:1", [wave("window")]: "at night" }))).toEqual([
      expect.stringContaining("wave.pusher.com/window has the invalid value"),
    ]);
  });
});

describe("labels with the name of an annotation of Wave", () => {
  it("do not opt in, and have a warning, also if they are added to a workload that is cached", () => {
    const labels = { [optIn]: "true", app: "web" };
    const object = workloadObject({ pod, annotations: { [optIn]: undefined }, metadata: { labels } });
    const before = onTemplate({}).workload;
    expect(matchesObject(before, object)).toBe(false);
    const { optIn: state, mistakes } = toWorkload(kinds.Deployment, {
      ...object,
      metadata: { ...object.metadata, labels },
    });
    expect(state).toEqual({ state: "out" });
    expect(mistakes.map(({ message }) => message)).toEqual([
      `Label "${optIn}" has no effect. Wave reads annotations, not labels. Set an annotation with this name, and remove the label.`,
    ]);
  });
});
