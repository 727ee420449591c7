import { resources } from "../objects/resources.ts";
import { create, type Registry } from "../registry/registry.ts";
import { type Controller, controllerManager, DelayedSteps, runControllers } from "./controller.ts";
import { daemonSetController } from "./daemon-set.ts";
import { deploymentController } from "./deployment.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { type KubeletOptions, kubeletController, nodeName } from "./kubelet.ts";
import { namespaceController } from "./namespace.ts";
import { OwnerIndex } from "./owner-index.ts";
import { replicaSetController } from "./replica-set.ts";
import { statefulSetController } from "./stateful-set.ts";
import { widgetController } from "./widget.ts";

/** How the controllers behave. */
export interface ControllerOptions extends KubeletOptions {
  /** Whether Deployments, StatefulSets and DaemonSets get Pods. Without them owners and namespaces are cleaned up all the same. */
  readonly workloads: boolean;
  /** How late they see the next write, in milliseconds. */
  readonly controllerDelayMs: () => number;
}

/** Starts the controllers; the returned function stops them. */
export function startControllers(registry: Registry, options: ControllerOptions): () => void {
  const owners = new OwnerIndex(registry.storage);
  const owning = { ...registry, owners };
  const steps = new DelayedSteps(registry.clock);
  const controllers: Controller[] = [garbageCollector(owning), namespaceController(registry)];
  if (options.workloads) {
    create(registry, resources.nodes, undefined, { metadata: { name: nodeName } }, controllerManager);
    controllers.push(
      deploymentController(owning),
      replicaSetController(owning),
      statefulSetController(owning),
      daemonSetController(owning),
      widgetController(owning),
      kubeletController(registry, steps, options),
    );
  }
  const stop = runControllers(registry, controllers, options.controllerDelayMs);
  return () => {
    stop();
    steps.stop();
    owners.stop();
  };
}
