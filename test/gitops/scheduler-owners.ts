import { getWorkload } from "../end-to-end/state.ts";

interface Entry {
  readonly manager: string;
  readonly fieldsV1?: { readonly "f:spec"?: { readonly "f:template"?: { readonly "f:spec"?: object } } };
}

/** Returns the field managers that own the scheduler of a Deployment. */
export async function schedulerOwners(cluster: Parameters<typeof getWorkload>[0], namespace: string, name: string) {
  const { metadata } = await getWorkload(cluster, namespace, "Deployment", name);
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly Entry[] };
  return managedFields
    .filter(({ fieldsV1 }) => "f:schedulerName" in (fieldsV1?.["f:spec"]?.["f:template"]?.["f:spec"] ?? {}))
    .map(({ manager }) => manager);
}
