import { type Resource, resourcePath } from "../../../kube/api/resources.ts";
import { getIfExists } from "../../../kube/reads/get-if-exists.ts";
import { type ReadResult, tryRead } from "../../cluster/requests/read-result.ts";
import type { DoctorContext } from "./doctor-context.ts";
import type { ObjectRef } from "./finding.ts";

/** Reads one object; `read` is undefined if the object does not exist. */
export function readObject<T>(
  { cluster }: DoctorContext,
  resource: Resource,
  where: ObjectRef,
): Promise<ReadResult<T | undefined>> {
  const { namespace, name } = where;
  const path = resourcePath(resource, namespace === null ? { name } : { namespace, name });
  return tryRead(permissionToGet(resource, where), () => getIfExists<T>(cluster.client, { path }));
}

/** Returns the permission to read an object: `get leases/wave in wave-system`. */
export function permissionToGet({ plural }: Resource, { namespace, name }: ObjectRef): string {
  return `get ${plural}/${name}${namespace === null ? "" : ` in ${namespace}`}`;
}
