import { isDeepStrictEqual } from "node:util";
import type { StoredObject } from "./record.ts";
import type { Present, Scene } from "./world-scene.ts";

/** Annotations of a Deployment that `kubectl rollout undo` leaves as they are (annotationsToSkip in its rollback.go). */
const kept = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "deployment.kubernetes.io/revision",
  "deployment.kubernetes.io/revision-history",
  "deployment.kubernetes.io/desired-replicas",
  "deployment.kubernetes.io/max-replicas",
  "deprecated.deployment.rollback.to",
];

/**
 * `kubectl rollout undo`, often to the last revision, sometimes further back, as kubectl writes it: a Deployment's template
 * and its annotations as its ReplicaSet had them, which are the last ones that went with that template; of others the
 * template alone. It says nothing about the version that it read.
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
