import { isDeepStrictEqual } from "node:util";
import type { StoredObject } from "./record.ts";
import type { Present, Scene } from "./world-scene.ts";

/** The annotations of a Deployment that `kubectl rollout undo` keeps (annotationsToSkip in its rollback.go). */
const kept = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "deployment.kubernetes.io/revision",
  "deployment.kubernetes.io/revision-history",
  "deployment.kubernetes.io/desired-replicas",
  "deployment.kubernetes.io/max-replicas",
  "deprecated.deployment.rollback.to",
];

/**
 * Does `kubectl rollout undo` as kubectl writes it, often to the last revision, sometimes to an earlier one. A Deployment gets
 * the template and the annotations of its ReplicaSet, which are the last annotations with that template; other workloads
 * get only the template. The patch does not test the version that kubectl read.
 */
export async function undo(scene: Scene, workload: Present): Promise<string | undefined> {
  const earlier: StoredObject[] = [];
  for (const state of scene.statesOf(workload.object).toReversed()) {
    const known = [workload.object, ...earlier].some((one) => isDeepStrictEqual(templateOf(one), templateOf(state)));
    if (!known) earlier.push(state);
  }
  const target = scene.dice.chance(0.7) ? earlier[0] : scene.dice.oneOf(earlier.slice(0, 4));
  if (target === undefined) return undefined;
  const template = templateOf(target);
  if (workload.plural === "deployments") {
    const body = [
      { op: "replace", path: "/spec/template", value: template },
      { op: "replace", path: "/metadata/annotations", value: annotationsOf(workload.object, target) },
    ];
    return scene.patch(workload, "json-patch+json", body, "kubectl-rollout");
  }
  const body = { spec: { template: { ...template, $patch: "replace" } } };
  return scene.patch(workload, "strategic-merge-patch+json", body, "kubectl-rollout");
}

function annotationsOf(now: StoredObject, then: StoredObject): Readonly<Record<string, string>> {
  const staying = Object.entries(now.metadata.annotations ?? {}).filter(([name]) => kept.includes(name));
  const back = Object.entries(then.metadata.annotations ?? {}).filter(([name]) => !kept.includes(name));
  return Object.fromEntries([...staying, ...back]);
}

function templateOf({ spec }: StoredObject): object | undefined {
  return (spec as { readonly template?: object } | undefined)?.template;
}
