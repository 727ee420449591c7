import { isNotFound } from "../../kube/errors.ts";
import { type Resource, resourcePath } from "../../kube/resources.ts";
import { type Place, type Read, reading } from "./finding.ts";
import type { Patient } from "./patient.ts";

/** An object as it is stored; undefined where it does not exist. */
export function readOne<T>({ cluster }: Patient, resource: Resource, where: Place): Promise<Read<T | undefined>> {
  const { namespace, name } = where;
  const path = resourcePath(resource, namespace === null ? { name } : { namespace, name });
  const permission = `get ${resource.plural}/${name}${namespace === null ? "" : ` in ${namespace}`}`;
  return reading(permission, () =>
    cluster.client.request<T>({ method: "GET", path }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    }),
  );
}
