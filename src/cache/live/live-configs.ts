import type { CompatibilitySettings } from "../../domain/compatibility/settings.ts";
import { type Config, type ConfigObject, toConfig } from "../../domain/config/digest.ts";
import type { Lookup } from "../../domain/config/view.ts";
import { configKey, type StoredKind, type StoredName } from "../../domain/references/references.ts";
import { type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";

/** Where the API server keeps each kind of configuration. */
export const configResources: Readonly<Record<StoredKind, Resource>> = {
  ConfigMap: resources.configMaps,
  Secret: resources.secrets,
};

/**
 * Finds what was read live, and what SecretProviderClasses fetch as the caches have it: that is no object which could be read,
 * and nothing newer that is noted on a workload is undone by it.
 */
export function lookupLive(found: ReadonlyMap<string, Config | undefined>, cached: Lookup): Lookup {
  return (kind, namespace, name) =>
    kind === "SecretProviderClass" ? cached(kind, namespace, name) : found.get(configKey({ kind, namespace, name }));
}

/**
 * A ConfigMap or Secret as it is stored at this moment, as digests; undefined where it does not exist. Without a
 * resourceVersion a GET is answered from what is stored now, not from the API server's own cache
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
 *
 * @throws what {@link ApiClient.request} throws, besides 404, and an Error that names the object where it is malformed.
 */
export async function readConfig(
  client: Pick<ApiClient, "request">,
  { kind, namespace, name }: StoredName,
  timeoutMs?: number,
  signal?: AbortSignal,
  compatibility?: CompatibilitySettings,
): Promise<Config | undefined> {
  const path = resourcePath(configResources[kind], { namespace, name });
  const limits = { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) };
  const object = await readIfThere<ConfigObject>(client, { path, ...limits });
  return object && toConfig(kind, object, compatibility);
}
