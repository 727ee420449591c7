import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { allCompatibilities, settingsWith } from "../../../test/support/domain/compatibility.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import { compatibilities } from "../compatibility/directive.ts";
import { peerAnnotationNames } from "../compatibility/directives.ts";
import { sameWorkload } from "../model/cached-workload.ts";
import type { WorkloadRow } from "../model/kind-row.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { argoRollout } from "../model/kinds/known-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { userAnnotations } from "../policy/annotation-mistakes.ts";
import type { Policy } from "../policy/policy.ts";
import { annotationPrefix, configHash, updateOnConfigChange, writtenByWave } from "../references/annotations.ts";
import { patchFor } from "./workload-patch.ts";

const rollout: WorkloadRow = {
  ...kinds.StatefulSet,
  ...argoRollout,
  id: "rollouts.argoproj.io",
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Rollout",
  plural: "rollouts",
  isValidated: false,
};

/** Every annotation that can have an effect on the metadata of a workload, and names that nothing reads. */
const names = [
  ...Object.keys(userAnnotations).map((name) => annotationPrefix + name),
  ...writtenByWave,
  configHash,
  ...peerAnnotationNames(compatibilities),
  "deployment.reloader.stakater.com/paused-at",
  "example.com/other",
];

/** Values of which at least one has an effect, for each annotation. */
const values = [
  "true",
  "false",
  "web",
  "other",
  "5m",
  "7",
  "off",
  "record",
  "restart",
  "a.*",
  "observe",
  "Mon 10:00-12:00",
];

const policies: readonly (readonly [string, Policy])[] = [
  ["Wave annotations only", { ...defaultPolicy, firstSight: "roll" }],
  [
    "every compatibility",
    { ...allCompatibilities, compatibility: settingsWith(), firstSight: "roll", providerClasses: true },
  ],
];

const rows: readonly WorkloadRow[] = [kinds.Deployment, kinds.StatefulSet, rollout];

const cases = policies.flatMap(([title, policy]) => rows.map((row) => [row.kind, title, row, policy] as const));

/** The Wave opt-in, so that each object has a due write. */
const objectWith = (annotations: Readonly<Record<string, string>>): WorkloadObject =>
  workloadObject({ pod: readsAll("ConfigMap", "web"), annotations });

function patchOf(object: WorkloadObject, row: WorkloadRow, policy: Policy) {
  const workload = toWorkload(row, object, policy);
  const plan = planRollout(workload, lookupOf(configMap("web", { a: "1" }), configMap("other", {})), policy);
  return { workload, patch: patchFor(workload, plan) };
}

/** Returns the object that the API server stores if the object of {@link objectWith} gets other annotations. */
function edited(annotations: Readonly<Record<string, string>>, row: WorkloadRow): WorkloadObject {
  const { metadata, ...object } = objectWith(annotations);
  const generation = (metadata?.generation ?? 0) + (row.annotationsRaiseGeneration ? 1 : 0);
  return { ...object, metadata: { ...metadata, generation } } as WorkloadObject;
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Whether the parsed workload differs in anything that a plan reads: not in the bookkeeping of annotations, and not in a note about Pods. */
function differs(a: ReturnType<typeof toWorkload>, b: ReturnType<typeof toWorkload>): boolean {
  const { plannedAnnotations, annotationsFingerprint, mistakes, differed, state, cause, configDigests } = a;
  const ignored = { plannedAnnotations, annotationsFingerprint, mistakes, differed, state, cause, configDigests };
  return !sameWorkload(a, { ...b, ...ignored });
}

describe("the tests of a patch", () => {
  it.each(cases)("of a %s with %s cover every annotation that the parser reads", (_, __, row, policy) => {
    const before = objectWith({});
    const { workload, patch } = patchOf(before, row, policy);
    expect(patch).toBeDefined();
    expect(applyJsonPatch(asJson(before), asJson(patch))).toBeDefined();
    const effective = names.filter((name) =>
      values.some((value) => differs(workload, toWorkload(row, objectWith({ [name]: value }), policy))),
    );
    // Most annotations have an effect, and an unrelated one has none.
    expect(effective.length).toBeGreaterThan(15);
    expect(effective).not.toContain("example.com/other");
    const untested = effective.filter((name) => {
      const changed = edited({ [name]: name === updateOnConfigChange ? "false" : "other" }, row);
      try {
        applyJsonPatch(asJson(changed), asJson(patch));
        return true;
      } catch {
        return false;
      }
    });
    expect(untested).toEqual([]);
  });

  it.each(cases)("of a %s with %s cover an annotation that was present and is removed", (_, __, row, policy) => {
    const before = objectWith({ [`${annotationPrefix}priority`]: "7" });
    const { patch } = patchOf(before, row, policy);
    expect(applyJsonPatch(asJson(before), asJson(patch))).toBeDefined();
    expect(() => applyJsonPatch(asJson(edited({}, row)), asJson(patch))).toThrow();
  });

  it.each(cases)("of a %s with %s ignore annotations that the parser does not read", (_, __, row, policy) => {
    const { patch } = patchOf(objectWith({}), row, policy);
    expect(applyJsonPatch(asJson(objectWith({ "example.com/other": "x" })), asJson(patch))).toBeDefined();
  });
});
