import { valueAt } from "../objects/json.ts";
import { resources } from "../objects/resources.ts";
import {
  type Controller,
  type ControllerRegistry,
  controlledBy,
  liveObject,
  selfOrOwner,
  writeStatus,
} from "./controller.ts";
import { count, createPod, deletePod, isActive, isReady } from "./pods.ts";
import { currentRevision } from "./revisions.ts";

/** Keeps one Pod of a DaemonSet on the sandbox's one node. https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/ */
export function daemonSetController(registry: ControllerRegistry): Controller {
  return {
    concerned: selfOrOwner(resources.daemonSets, resources.pods),
    sync(key) {
      const set = liveObject(registry, resources.daemonSets, key);
      if (set === undefined) return;
      const { hash, template } = currentRevision(registry, set);
      const label = "controller-revision-hash";
      const existing = controlledBy(registry, set, resources.pods);
      if (existing.length === 0) {
        createPod(registry, set, template, { generateName: `${set.metadata.name}-`, labels: { [label]: hash } });
      } else if (valueAt(set.spec, "updateStrategy", "type") === "RollingUpdate") {
        for (const pod of existing) if (pod.metadata.labels?.[label] !== hash) deletePod(registry, pod);
      }
      const pods = controlledBy(registry, set, resources.pods).filter(isActive);
      const ready = pods.filter(isReady).length;
      writeStatus(registry, resources.daemonSets, set, {
        observedGeneration: set.metadata.generation,
        desiredNumberScheduled: 1,
        currentNumberScheduled: pods.length,
        numberMisscheduled: 0,
        numberReady: ready,
        updatedNumberScheduled: count(pods.filter(({ metadata }) => metadata.labels?.[label] === hash).length),
        numberAvailable: count(ready),
        numberUnavailable: count(1 - ready),
      });
    },
  };
}
