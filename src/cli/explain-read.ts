import { readConfig } from "../cache/live-configs.ts";
import type { ApiClient } from "../kube/client.ts";
import { isForbidden } from "../kube/errors.ts";
import type { Config } from "../rollout/digest.ts";
import { isDnsSubdomain } from "../rollout/dns-name.ts";
import { type ConfigName, configKey } from "../rollout/references.ts";
import { errorText } from "../telemetry/error-text.ts";

/** An object as it was found a moment ago. Its values are gone: a Config has digests only. */
export type ReadConfig =
  | { readonly state: "present"; readonly config: Config }
  | { readonly state: "absent" }
  /** "forbidden": this user may not read it; "unreadable": it could not be read, or is malformed. */
  | { readonly state: "forbidden" | "unreadable"; readonly error: string };

/** What was read, by the key that `configKey` gives. */
export type ReadConfigs = ReadonlyMap<string, ReadConfig>;

/** Reads each object, all at once, as it is stored now. Never rejects: what cannot be read says why. */
export async function readConfigs(
  client: Pick<ApiClient, "request">,
  objects: readonly ConfigName[],
): Promise<ReadConfigs> {
  const read = async (object: ConfigName) => [configKey(object), await readOne(client, object)] as const;
  return new Map(await Promise.all(objects.map(read)));
}

async function readOne(client: Pick<ApiClient, "request">, object: ConfigName): Promise<ReadConfig> {
  // A pod spec may name what no object can be called, for example with dots and slashes that would change the path.
  if (!isDnsSubdomain(object.name)) return { state: "absent" };
  try {
    const config = await readConfig(client, object);
    return config === undefined ? { state: "absent" } : { state: "present", config };
  } catch (error) {
    return { state: isForbidden(error) ? "forbidden" : "unreadable", error: errorText(error) };
  }
}
