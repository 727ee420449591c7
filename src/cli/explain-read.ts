import type { ApiClient } from "../kube/client.ts";
import { isForbidden, isNotFound } from "../kube/errors.ts";
import { type Resource, resourcePath, resources } from "../kube/resources.ts";
import { type Config, type ConfigObject, toConfig } from "../rollout/digest.ts";
import { type ConfigKind, type ConfigName, configKey } from "../rollout/references.ts";
import { errorText } from "../telemetry/error-text.ts";
import { dnsSubdomain } from "./flag-types.ts";

/** An object as it was found a moment ago. Its values are gone: a Config has digests only. */
export type ReadConfig =
  | { readonly state: "present"; readonly config: Config }
  | { readonly state: "absent" }
  /** "forbidden": this user may not read it; "unreadable": it could not be read, or is malformed. */
  | { readonly state: "forbidden" | "unreadable"; readonly error: string };

/** What was read, by the key that `configKey` gives. */
export type ReadConfigs = ReadonlyMap<string, ReadConfig>;

const configResources: Readonly<Record<ConfigKind, Resource>> = {
  ConfigMap: resources.configMaps,
  Secret: resources.secrets,
};

/** Reads each object, all at once, as it is stored now. Never rejects: what cannot be read says why. */
export async function readConfigs(
  client: Pick<ApiClient, "request">,
  objects: readonly ConfigName[],
): Promise<ReadConfigs> {
  const read = async (object: ConfigName) => [configKey(object), await readConfig(client, object)] as const;
  return new Map(await Promise.all(objects.map(read)));
}

async function readConfig(
  client: Pick<ApiClient, "request">,
  { kind, namespace, name }: ConfigName,
): Promise<ReadConfig> {
  // A pod spec may name what no object can be called, for example with dots and slashes that would change the path.
  if (!dnsSubdomain.test(name)) return { state: "absent" };
  const path = resourcePath(configResources[kind], { namespace, name });
  try {
    return { state: "present", config: toConfig(kind, await client.request<ConfigObject>({ method: "GET", path })) };
  } catch (error) {
    if (isNotFound(error)) return { state: "absent" };
    return { state: isForbidden(error) ? "forbidden" : "unreadable", error: errorText(error) };
  }
}
