import { type Json, type JsonObject, objectOf, valueAt } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import type { SandboxResource } from "../objects/resources.ts";
import { formatLabelSelector } from "../objects/selectors.ts";
import { type Registry, update, type WriteOptions } from "../registry/registry.ts";

/** Returns the `scale` subresource of a workload. https://kubernetes.io/docs/reference/kubernetes-api/autoscaling-resources/ */
export function scaleOf({ metadata, spec, status }: ApiObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // As the API server has it, 0 is left out here and written out in the status.
    spec: { replicas: objectOf(spec).replicas || undefined },
    status: {
      replicas: objectOf(status).replicas ?? 0,
      selector: formatLabelSelector(objectOf(objectOf(spec).selector)),
    },
  };
}

/** Gives a workload the number of replicas that a Scale object names, and returns the new Scale. Throws a `StatusError`. */
export function updateScale(
  registry: Registry,
  resource: SandboxResource,
  live: ApiObject,
  scale: Json,
  options: WriteOptions,
): JsonObject {
  const { namespace, name, labels, annotations, finalizers, ownerReferences } = live.metadata;
  const resourceVersion = valueAt(scale, "metadata", "resourceVersion");
  const body: JsonObject = {
    ...live,
    metadata: { name, namespace, labels, annotations, finalizers, ownerReferences, resourceVersion },
    spec: { ...objectOf(live.spec), replicas: valueAt(scale, "spec", "replicas") ?? 0 },
  };
  return scaleOf(update(registry, resource, namespace, name, body, options));
}
