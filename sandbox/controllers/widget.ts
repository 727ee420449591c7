import { resources } from "../objects/resources.ts";
import {
  type Controller,
  type ControllerRegistry,
  controlledBy,
  liveObject,
  selfOrOwner,
  writeStatus,
} from "./controller.ts";
import { createPod, deletePod, isActive, isReady, specNumber, templateOf } from "./pods.ts";
import { templateHash } from "./revisions.ts";

const hashLabel = "example.com/template-hash";

/** Keeps the Pods of a Widget as a simple operator does: it deletes the Pods of another template all at once. */
export function widgetController(registry: ControllerRegistry): Controller {
  return {
    concerned: selfOrOwner(resources.widgets, resources.pods),
    sync(key) {
      const widget = liveObject(registry, resources.widgets, key);
      if (widget === undefined) return;
      const template = templateOf(widget);
      const hash = templateHash(template);
      const active = () => controlledBy(registry, widget, resources.pods).filter(isActive);
      const isCurrent = (pod: ReturnType<typeof active>[number]) => pod.metadata.labels?.[hashLabel] === hash;
      for (const pod of active()) if (!isCurrent(pod)) deletePod(registry, pod);
      const wanted = specNumber(widget, "replicas");
      for (const pod of active().slice(wanted)) deletePod(registry, pod);
      for (let count = active().length; count < wanted; count++) {
        createPod(registry, widget, template, {
          generateName: `${widget.metadata.name}-`,
          labels: { [hashLabel]: hash },
        });
      }
      const pods = active();
      writeStatus(registry, resources.widgets, widget, {
        observedGeneration: widget.metadata.generation,
        replicas: pods.length,
        updatedReplicas: pods.length,
        availableReplicas: pods.filter(isReady).length,
      });
    },
  };
}
