import { type JsonObject, listOf, objectOf } from "../objects/json.ts";
import { type ApiObject, timestamp } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { update } from "../registry/registry.ts";
import { type ControllerRegistry, controlledBy, controllerManager, liveObject } from "./controller.ts";
import { count, specNumber, statusNumber } from "./pods.ts";
import { revisionAnnotation } from "./revisions.ts";
import { boundsOf } from "./rolling-update.ts";

/** Counts what a Deployment's ReplicaSets have, as `kubectl rollout status` reads it, and gives it their revision. */
export function writeDeploymentStatus(registry: ControllerRegistry, key: string, current: ApiObject | undefined): void {
  const deployment = liveObject(registry, resources.deployments, key);
  if (deployment === undefined) return;
  const owned = controlledBy(registry, deployment, resources.replicaSets);
  const now = owned.find(({ metadata }) => metadata.uid === current?.metadata.uid);
  const total = (field: string) => owned.reduce((sum, replicaSet) => sum + statusNumber(replicaSet, field), 0);
  const desired = specNumber(deployment, "replicas");
  const replicas = total("replicas");
  const available = total("availableReplicas");
  const updated = now === undefined ? 0 : statusNumber(now, "replicas");
  const complete = updated === desired && replicas === desired && available === desired;
  const status = {
    observedGeneration: deployment.metadata.generation,
    replicas: count(replicas),
    updatedReplicas: count(updated),
    readyReplicas: count(total("readyReplicas")),
    availableReplicas: count(available),
    unavailableReplicas: count(Math.max(0, Math.max(desired, replicas) - available)),
    conditions: [
      condition(registry, deployment, availability(deployment, available)),
      condition(registry, deployment, progress(deployment, now?.metadata.name, complete)),
    ],
  };
  const revision = now?.metadata.annotations?.[revisionAnnotation];
  const annotations = { ...deployment.metadata.annotations };
  if (revision !== undefined) annotations[revisionAnnotation] = revision;
  const { namespace, name } = deployment.metadata;
  const body = { ...deployment, metadata: { ...deployment.metadata, annotations }, status };
  update(registry, resources.deployments, namespace, name, body, { ...controllerManager, subresource: "status" });
}

interface Condition extends JsonObject {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

function availability(deployment: ApiObject, available: number): Condition {
  const desired = specNumber(deployment, "replicas");
  const { maxUnavailable } = boundsOf(objectOf(objectOf(deployment.spec).strategy), desired);
  if (available >= desired - maxUnavailable) {
    const message = "Deployment has minimum availability.";
    return { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message };
  }
  const message = "Deployment does not have minimum availability.";
  return { type: "Available", status: "False", reason: "MinimumReplicasUnavailable", message };
}

function progress(deployment: ApiObject, replicaSet: string | undefined, complete: boolean): Condition {
  const type = "Progressing";
  if (objectOf(deployment.spec).paused === true) {
    return { type, status: "Unknown", reason: "DeploymentPaused", message: "Deployment is paused" };
  }
  if (complete) {
    const message = `ReplicaSet "${replicaSet}" has successfully progressed.`;
    return { type, status: "True", reason: "NewReplicaSetAvailable", message };
  }
  return { type, status: "True", reason: "ReplicaSetUpdated", message: `ReplicaSet "${replicaSet}" is progressing.` };
}

/** A condition keeps its times as long as it says the same. */
function condition(registry: ControllerRegistry, { status }: ApiObject, next: Condition): JsonObject {
  const before = listOf(objectOf(status).conditions)
    .map(objectOf)
    .find(({ type }) => type === next.type);
  if (before?.status === next.status && before.reason === next.reason && before.message === next.message) return before;
  const now = timestamp(registry.clock.wall());
  const lastTransitionTime = before?.status === next.status ? (before.lastTransitionTime ?? now) : now;
  return { ...next, lastUpdateTime: now, lastTransitionTime };
}
