import { describe, expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { resourceName, type WorkloadRow } from "./kind-row.ts";
import { kinds } from "./kinds/apps-kinds.ts";
import { toWorkload } from "./workload.ts";
import type { WorkloadObject } from "./workload-references.ts";

/** As a CronJob has its template, but that a change of it rolls. */
const row: WorkloadRow = {
  ...kinds.StatefulSet,
  id: "widgets.example.com",
  apiVersion: "example.com/v1",
  plural: "widgets",
  template: "/spec/widgetTemplate/spec/template",
};
const lookup = lookupOf(configMap("web", { a: "1" }));
const pod = readsAll("ConfigMap", "web");

describe("a kind with its pod template in another place", () => {
  const standardObject = workloadObject({ pod });
  const spec: object = { widgetTemplate: { spec: { template: standardObject.spec?.template } } };
  const object = { ...standardObject, spec } as WorkloadObject;

  it("has its pod template read there", () => {
    const standard = toWorkload({ ...row, template: "/spec/template" }, workloadObject({ pod }));
    expect({ ...toWorkload(row, object), row: standard.row }).toEqual(standard);
    expect(() => toWorkload(row, workloadObject({ pod }))).toThrow("spec.widgetTemplate.spec.template.spec is missing");
  });

  it("has its hash written there", () => {
    const workload = toWorkload(row, object);
    const patch = patchFor(workload, planRollout(workload, lookup, defaultPolicy));
    const written = patch?.filter(({ op }) => op === "add").map(({ path }) => path);
    expect(written).toEqual([
      "/spec/widgetTemplate/spec/template/metadata/annotations",
      "/metadata/annotations/wave.pusher.com~1config-digests",
    ]);
  });

  it("has its hash written even if its template has no metadata", () => {
    const { metadata: _metadata, ...template } = { ...standardObject.spec?.template };
    const bare: object = { widgetTemplate: { spec: { template } } };
    const workload = toWorkload(row, { ...standardObject, spec: bare } as WorkloadObject);
    const patch = patchFor(workload, planRollout(workload, lookup, defaultPolicy));
    expect(patch?.find(({ op }) => op === "add")).toMatchObject({
      path: "/spec/widgetTemplate/spec/template/metadata",
      value: { annotations: { "wave.pusher.com/config-hash": expect.stringMatching(/^v2:/) } },
    });
  });

  it("has a name of resource and group", () => {
    expect([resourceName(row), resourceName({ apiVersion: "v1", plural: "pods" })]).toEqual([
      "widgets.example.com",
      "pods",
    ]);
  });
});
