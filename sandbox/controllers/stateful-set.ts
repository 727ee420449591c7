import { type JsonObject, listOf, objectOf, stringOf, valueAt } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import {
  type Controller,
  type ControllerRegistry,
  controlledBy,
  liveObject,
  selfOrOwner,
  writeStatus,
} from "./controller.ts";
import { count, createPod, deletePod, isActive, isReady, specNumber } from "./pods.ts";
import { currentRevision, type Revision, revisionNamed } from "./revisions.ts";

const revisionLabel = "controller-revision-hash";

/**
 * Keeps a StatefulSet's Pods by number, and replaces them from the highest down, each after the one before is ready again.
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
 */
export function statefulSetController(registry: ControllerRegistry): Controller {
  return {
    concerned: selfOrOwner(resources.statefulSets, resources.pods),
    sync(key) {
      const set = liveObject(registry, resources.statefulSets, key);
      if (set === undefined) return;
      const update = currentRevision(registry, set);
      const current = revisionNamed(registry, set, stringOf(objectOf(set.status).currentRevision)) ?? update;
      const settled = keepPods(registry, set, current, update);
      if (settled) replaceOutdated(registry, set, update);
      writeStatefulSetStatus(registry, set, current, update);
    },
  };
}

function partitionOf({ spec }: ApiObject): number {
  return Number(valueAt(spec, "updateStrategy", "rollingUpdate", "partition") ?? 0);
}

function podsByOrdinal(registry: ControllerRegistry, set: ApiObject): Map<number, ApiObject> {
  const pods = controlledBy(registry, set, resources.pods);
  return new Map(pods.map((pod) => [Number(pod.metadata.name.slice(set.metadata.name.length + 1)), pod]));
}

/** Creates and removes Pods until their number is right; whether it is, with all of them ready. */
function keepPods(registry: ControllerRegistry, set: ApiObject, current: Revision, update: Revision): boolean {
  const replicas = specNumber(set, "replicas");
  const parallel = objectOf(set.spec).podManagementPolicy === "Parallel";
  const pods = podsByOrdinal(registry, set);
  let settled = true;
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    const pod = pods.get(ordinal);
    if (pod === undefined) createNumbered(registry, set, ordinal, ordinal < partitionOf(set) ? current : update);
    if (pod === undefined || !isActive(pod) || !isReady(pod)) {
      settled = false;
      if (!parallel) return replaceBroken(registry, set, pod, update);
    }
  }
  const surplus = [...pods.keys()].filter((ordinal) => ordinal >= replicas).toSorted((a, b) => b - a);
  for (const ordinal of surplus) {
    const pod = pods.get(ordinal);
    if (pod !== undefined) deletePod(registry, pod);
    settled = false;
    if (!parallel) return false;
  }
  return settled;
}

/**
 * A Pod that cannot become ready does not block the revision that mends it while it has not been placed yet.
 * Always false: the set is not settled.
 */
function replaceBroken(
  registry: ControllerRegistry,
  set: ApiObject,
  pod: ApiObject | undefined,
  update: Revision,
): false {
  const rolls = valueAt(set.spec, "updateStrategy", "type") === "RollingUpdate";
  const outdated = pod !== undefined && pod.metadata.labels?.[revisionLabel] !== update.name;
  if (rolls && outdated && valueAt(pod, "status", "phase") === "Pending") deletePod(registry, pod);
  return false;
}

function createNumbered(registry: ControllerRegistry, set: ApiObject, ordinal: number, revision: Revision): void {
  const name = `${set.metadata.name}-${ordinal}`;
  const volumes = volumesOf(set, revision, name);
  createPod(registry, set, revision.template, {
    name,
    generateName: `${set.metadata.name}-`,
    labels: {
      "statefulset.kubernetes.io/pod-name": name,
      "apps.kubernetes.io/pod-index": String(ordinal),
      [revisionLabel]: revision.name,
    },
    spec: {
      hostname: name,
      subdomain: objectOf(set.spec).serviceName,
      ...(volumes.length > 0 && { volumes }),
    },
  });
}

/** Returns the volumes of a Pod. A claim of the StatefulSet replaces a volume of the template with the same name. */
function volumesOf(set: ApiObject, { template }: Revision, pod: string): readonly JsonObject[] {
  const claims = listOf(objectOf(set.spec).volumeClaimTemplates).map((claim) => {
    const name = stringOf(objectOf(objectOf(claim).metadata).name);
    return { name, persistentVolumeClaim: { claimName: `${name}-${pod}` } };
  });
  const written = listOf(objectOf(template.spec).volumes).map(objectOf);
  return [...written.filter(({ name }) => claims.every((claim) => claim.name !== name)), ...claims];
}

/** Deletes the highest Pod of another revision, unless the strategy leaves that to a person. */
function replaceOutdated(registry: ControllerRegistry, set: ApiObject, update: Revision): void {
  if (valueAt(set.spec, "updateStrategy", "type") !== "RollingUpdate") return;
  const pods = podsByOrdinal(registry, set);
  for (let ordinal = specNumber(set, "replicas") - 1; ordinal >= partitionOf(set); ordinal--) {
    const pod = pods.get(ordinal);
    if (pod === undefined || pod.metadata.labels?.[revisionLabel] === update.name) continue;
    deletePod(registry, pod);
    return;
  }
}

function writeStatefulSetStatus(
  registry: ControllerRegistry,
  set: ApiObject,
  current: Revision,
  update: Revision,
): void {
  const pods = controlledBy(registry, set, resources.pods).filter(isActive);
  const ready = pods.filter(isReady).length;
  const of = (revision: Revision) => pods.filter(({ metadata }) => metadata.labels?.[revisionLabel] === revision.name);
  const rolls = valueAt(set.spec, "updateStrategy", "type") === "RollingUpdate" && partitionOf(set) === 0;
  const complete = rolls && of(update).length === pods.length && ready === specNumber(set, "replicas");
  const now = complete ? update : current;
  writeStatus(registry, resources.statefulSets, set, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: count(ready),
    availableReplicas: ready,
    currentReplicas: count(of(now).length),
    updatedReplicas: count(of(update).length),
    currentRevision: now.name,
    updateRevision: update.name,
    collisionCount: 0,
  });
}
