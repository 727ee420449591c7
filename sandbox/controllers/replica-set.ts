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
import { count, createPod, deletePod, isActive, isReady, specNumber, templateOf } from "./pods.ts";

/** Keeps as many Pods as a ReplicaSet asks for. https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/ */
export function replicaSetController(registry: ControllerRegistry): Controller {
  return {
    concerned: selfOrOwner(resources.replicaSets, resources.pods),
    sync(key) {
      const replicaSet = liveObject(registry, resources.replicaSets, key);
      if (replicaSet === undefined) return;
      const pods = controlledBy(registry, replicaSet, resources.pods).filter(isActive);
      const missing = specNumber(replicaSet, "replicas") - pods.length;
      for (let index = 0; index < missing; index++) {
        createPod(registry, replicaSet, templateOf(replicaSet), { generateName: `${replicaSet.metadata.name}-` });
      }
      for (const pod of dispensable(pods).slice(0, Math.max(0, -missing))) deletePod(registry, pod);
      const left = controlledBy(registry, replicaSet, resources.pods).filter(isActive);
      const ready = left.filter(isReady).length;
      writeStatus(registry, resources.replicaSets, replicaSet, {
        replicas: left.length,
        fullyLabeledReplicas: count(left.length),
        readyReplicas: count(ready),
        availableReplicas: count(ready),
        observedGeneration: replicaSet.metadata.generation,
      });
    },
  };
}

/** Pods in the order in which they may go: those that are not ready first. */
function dispensable(pods: readonly ApiObject[]): ApiObject[] {
  return pods.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)));
}
