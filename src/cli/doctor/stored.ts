import { type Resource, resourcePath } from "../../kube/api/resources.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";
import { type Read, reading } from "../cluster/reading.ts";
import type { DoctorContext } from "./doctor-context.ts";
import type { Place } from "./finding.ts";

/** An object as it is stored; undefined where it does not exist. */
export function readOne<T>({ cluster }: DoctorContext, resource: Resource, where: Place): Promise<Read<T | undefined>> {
  const { namespace, name } = where;
  const path = resourcePath(resource, namespace === null ? { name } : { namespace, name });
  return reading(permissionToGet(resource, where), () => readIfThere<T>(cluster.client, { path }));
}

/** What it takes to read an object: `get leases/wave in wave-system`. */
export function permissionToGet({ plural }: Resource, { namespace, name }: Place): string {
  return `get ${plural}/${name}${namespace === null ? "" : ` in ${namespace}`}`;
}
