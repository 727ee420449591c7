import { objectOf, sameJson, valueAt } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { remove } from "../registry/deletion.ts";
import { create, update } from "../registry/registry.ts";
import {
  type Controller,
  type ControllerRegistry,
  controlledBy,
  controllerManager,
  controllerReference,
  liveObject,
  objectKey,
  selfOrOwner,
} from "./controller.ts";
import { writeDeploymentStatus } from "./deployment-status.ts";
import { recordEvent } from "./events.ts";
import { specNumber, statusNumber, templateOf } from "./pods.ts";
import { revisionAnnotation, sameTemplate, templateHash } from "./revisions.ts";
import { boundsOf, nextReplicas, type Replicas } from "./rolling-update.ts";

/** Rolls a Deployment's Pods through ReplicaSets. https://kubernetes.io/docs/concepts/workloads/controllers/deployment/ */
export function deploymentController(registry: ControllerRegistry): Controller {
  const ofReplicaSet = selfOrOwner(resources.deployments, resources.replicaSets);
  return {
    concerned(event) {
      if (event.resource !== resources.pods || event.after !== undefined) return ofReplicaSet(event);
      // With strategy Recreate, new Pods start when the last old Pod is gone. The status of the old ReplicaSet does not change then.
      const { namespace, ownerReferences } = event.before?.metadata ?? {};
      const name = ownerReferences?.find(({ kind }) => kind === "ReplicaSet")?.name;
      const replicaSet = name === undefined ? undefined : registry.storage.get(resources.replicaSets, namespace, name);
      return replicaSet === undefined
        ? []
        : ofReplicaSet({ ...event, resource: resources.replicaSets, after: replicaSet });
    },
    sync(key) {
      const deployment = liveObject(registry, resources.deployments, key);
      if (deployment === undefined) return;
      const owned = controlledBy(registry, deployment, resources.replicaSets);
      const existing = owned.find((replicaSet) => sameTemplate(templateOf(replicaSet), templateOf(deployment)));
      const paused = objectOf(deployment.spec).paused === true;
      const current = paused ? existing : (existing ?? createReplicaSet(registry, deployment));
      const old = owned.filter((replicaSet) => replicaSet.metadata.uid !== current?.metadata.uid);
      const revised = current === undefined || paused ? undefined : withRevision(registry, deployment, current, old);
      if (revised !== undefined) scale(registry, deployment, revised, old);
      else if (current !== undefined && old.every((replicaSet) => specNumber(replicaSet, "replicas") === 0)) {
        // A paused Deployment still follows its number of replicas where no rollout is under way.
        scaleTo(registry, deployment, current, specNumber(deployment, "replicas"));
      }
      forgetOldReplicaSets(registry, deployment, old);
      writeDeploymentStatus(registry, objectKey(deployment), revised ?? current);
    },
  };
}

function createReplicaSet(registry: ControllerRegistry, deployment: ApiObject): ApiObject {
  const template = templateOf(deployment);
  const hash = { "pod-template-hash": templateHash(template) };
  const { metadata: templateMetadata, ...rest } = template;
  const labels = { ...objectOf(objectOf(templateMetadata).labels), ...hash };
  const selector = objectOf(valueAt(deployment, "spec", "selector"));
  const { name, namespace } = deployment.metadata;
  const body = {
    metadata: {
      name: `${name}-${hash["pod-template-hash"]}`,
      labels,
      ownerReferences: controllerReference(deployment) ?? [],
    },
    spec: {
      replicas: 0,
      selector: { ...selector, matchLabels: { ...objectOf(selector.matchLabels), ...hash } },
      template: { ...rest, metadata: { ...objectOf(templateMetadata), labels } },
    },
  };
  return create(registry, resources.replicaSets, namespace, body, controllerManager);
}

/** Annotations that a Deployment does not hand down: SetNewReplicaSetAnnotations of kube-controller-manager. */
const notHandedDown: readonly string[] = [
  revisionAnnotation,
  "deployment.kubernetes.io/revision-history",
  "deployment.kubernetes.io/desired-replicas",
  "deployment.kubernetes.io/max-replicas",
  "deprecated.deployment.rollback.to",
  "kubectl.kubernetes.io/last-applied-configuration",
];

/**
 * The current ReplicaSet carries the highest revision, also one that is taken up again, and the Deployment's annotations:
 * from there `kubectl rollout undo` takes them back.
 */
function withRevision(
  registry: ControllerRegistry,
  { metadata }: ApiObject,
  current: ApiObject,
  old: readonly ApiObject[],
): ApiObject {
  const highest = Math.max(0, ...old.map(revisionOf));
  const revision = String(Math.max(revisionOf(current), highest + 1));
  const handedDown = Object.entries(metadata.annotations ?? {}).filter(([name]) => !notHandedDown.includes(name));
  const annotations = {
    ...current.metadata.annotations,
    ...Object.fromEntries(handedDown),
    [revisionAnnotation]: revision,
  };
  if (sameJson(annotations, current.metadata.annotations)) return current;
  const { namespace, name } = current.metadata;
  const revised = { ...current, metadata: { ...current.metadata, annotations } };
  return update(registry, resources.replicaSets, namespace, name, revised, controllerManager);
}

/** Returns the revision of a ReplicaSet; 0 if it has none yet. */
export function revisionOf({ metadata }: ApiObject): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0);
}

function scale(
  registry: ControllerRegistry,
  deployment: ApiObject,
  current: ApiObject,
  old: readonly ApiObject[],
): void {
  const replicas = specNumber(deployment, "replicas");
  const strategy = objectOf(objectOf(deployment.spec).strategy);
  if (strategy.type === "Recreate") {
    for (const replicaSet of old) scaleTo(registry, deployment, replicaSet, 0);
    const running = old.some((replicaSet) => controlledBy(registry, replicaSet, resources.pods).length > 0);
    if (!running) scaleTo(registry, deployment, current, replicas);
    return;
  }
  const next = nextReplicas(replicas, boundsOf(strategy, replicas), replicasOf(current), old.map(replicasOf));
  for (const replicaSet of [current, ...old]) {
    scaleTo(registry, deployment, replicaSet, next.get(replicaSet.metadata.name) ?? 0);
  }
}

function replicasOf(replicaSet: ApiObject): Replicas {
  const desired = specNumber(replicaSet, "replicas");
  // A ReplicaSet that has not seen its own change yet still counts Pods that it will delete.
  const available = Math.min(desired, statusNumber(replicaSet, "availableReplicas"));
  return { name: replicaSet.metadata.name, desired, available };
}

function scaleTo(registry: ControllerRegistry, deployment: ApiObject, replicaSet: ApiObject, replicas: number): void {
  const { namespace, name } = replicaSet.metadata;
  const live = registry.storage.get(resources.replicaSets, namespace, name);
  if (live === undefined) return;
  const from = specNumber(live, "replicas");
  if (from === replicas) return;
  const scaled = { ...live, spec: { ...objectOf(live.spec), replicas } };
  if (sameJson(live, scaled)) return;
  update(registry, resources.replicaSets, namespace, name, scaled, controllerManager);
  const direction = replicas > from ? "up" : "down";
  recordEvent(registry, deployment, {
    component: "deployment-controller",
    reason: "ScalingReplicaSet",
    message: `Scaled ${direction} replica set ${name} from ${from} to ${replicas}`,
  });
}

function forgetOldReplicaSets(registry: ControllerRegistry, deployment: ApiObject, old: readonly ApiObject[]): void {
  const empty = old.filter((item) => specNumber(item, "replicas") === 0 && statusNumber(item, "replicas") === 0);
  const surplus = empty.length - specNumber(deployment, "revisionHistoryLimit");
  for (const { metadata } of empty.toSorted((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, surplus))) {
    remove(registry, resources.replicaSets, metadata.namespace, metadata.name, undefined, false);
  }
}
