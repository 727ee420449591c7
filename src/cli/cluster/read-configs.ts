import { configResources } from "../../cache/live/live-configs.ts";
import type { CompatibilitySettings } from "../../domain/compatibility/settings.ts";
import { type Config, type ConfigObject, toConfig } from "../../domain/config/digest.ts";
import { contentWrittenAt } from "../../domain/references/field-managers.ts";
import { type ConfigName, configKey, isStored, type StoredName } from "../../domain/references/references.ts";
import { isDnsSubdomain } from "../../domain/syntax/dns-name.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { isForbidden } from "../../kube/api/errors.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { mapBounded } from "./map-bounded.ts";
import { listAll } from "./list-all.ts";
import { readProviderClasses } from "./read-provider-classes.ts";

/** An object as it was found a moment ago. Its values are gone: a Config has digests only. */
export type ReadConfig =
  | {
      readonly state: "present";
      readonly config: Config;
      /** When its content changed last, seconds since the epoch; absent where that is not known apart from the rest. */
      readonly contentAt?: number;
    }
  | { readonly state: "absent" }
  | UnreadConfig;

/** "forbidden": this user may not read it; "unreadable": it could not be read, or is malformed. */
export interface UnreadConfig {
  readonly state: "forbidden" | "unreadable";
  readonly error: string;
}

/** What was read, by the key that `configKey` gives. */
export type ReadConfigs = ReadonlyMap<string, ReadConfig>;

/** Of more objects than these of a kind in a namespace all are listed, instead of one GET each. */
export const fewObjects = 10;

/** Reads each object, all at once, as it is stored now. Never rejects: what cannot be read says why. */
export async function readConfigs(
  client: Pick<ApiClient, "request">,
  objects: readonly StoredName[],
  compatibility?: CompatibilitySettings,
): Promise<ReadConfigs> {
  const read = async (object: StoredName) => [configKey(object), await readOne(client, object, compatibility)] as const;
  return new Map(await Promise.all(objects.map(read)));
}

/** The same with what SecretProviderClasses fetch. */
export async function readAllConfigs(
  client: ApiClient,
  objects: readonly ConfigName[],
  compatibility?: CompatibilitySettings,
): Promise<ReadConfigs> {
  const classes = Map.groupBy(
    objects.filter((object) => !isStored(object)),
    ({ namespace }) => namespace,
  );
  const read = await Promise.all([
    readConfigs(client, objects.filter(isStored), compatibility),
    ...classes.values().map((group) => readClasses(client, group)),
  ]);
  return new Map(read.flatMap((each) => [...each]));
}

/** The same for the objects that thousands of workloads read, each asked for once: a list where they are many. */
export async function readManyConfigs(
  client: ApiClient,
  objects: readonly ConfigName[],
  compatibility?: CompatibilitySettings,
): Promise<ReadConfigs> {
  const distinct = [...new Map(objects.map((object) => [configKey(object), object])).values()];
  const groups = [...Map.groupBy(distinct, ({ kind, namespace }) => `${kind}/${namespace}`).values()];
  const read = await mapBounded(groups, (group) => {
    const stored = group.filter(isStored);
    return stored.length > fewObjects
      ? listGroup(client, stored, compatibility)
      : readAllConfigs(client, group, compatibility);
  });
  return new Map(read.flatMap((each) => [...each]));
}

/** Objects of one kind and namespace. */
async function listGroup(
  client: ApiClient,
  group: readonly StoredName[],
  compatibility: CompatibilitySettings | undefined,
): Promise<ReadConfigs> {
  const [{ kind, namespace } = { kind: "ConfigMap", namespace: "" } as const] = group;
  const wanted = new Set(group.map(({ name }) => name));
  const keep = (object: KubeObject & ConfigObject) =>
    wanted.has(object.metadata.name)
      ? ([configKey({ kind, namespace, name: object.metadata.name }), present(kind, object, compatibility)] as const)
      : undefined;
  try {
    const absent = group.map((object) => [configKey(object), { state: "absent" }] as const);
    return new Map([...absent, ...(await listAll(client, configResources[kind], { namespace }, keep))]);
  } catch (error) {
    return new Map(group.map((object) => [configKey(object), unreadConfig(error)]));
  }
}

/** What the Pods of one namespace tell of its classes; "absent" is one that none of them mounts. */
async function readClasses(client: ApiClient, classes: readonly ConfigName[]): Promise<ReadConfigs> {
  try {
    const known = await readProviderClasses(client, classes[0]?.namespace ?? "");
    const present = new Map(known.map((config) => [configKey(config), { state: "present", config } as const]));
    return new Map(classes.map(configKey).map((key) => [key, present.get(key) ?? { state: "absent" }]));
  } catch (error) {
    return new Map(classes.map((object) => [configKey(object), unreadConfig(error)]));
  }
}

async function readOne(
  client: Pick<ApiClient, "request">,
  object: StoredName,
  compatibility: CompatibilitySettings | undefined,
): Promise<ReadConfig> {
  // A pod spec may name what no object can be called, for example with dots and slashes that would change the path.
  if (!isDnsSubdomain(object.name)) return { state: "absent" };
  try {
    const path = resourcePath(configResources[object.kind], object);
    const found = await getIfExists<ConfigObject>(client, { path });
    return found === undefined ? { state: "absent" } : present(object.kind, found, compatibility);
  } catch (error) {
    return unreadConfig(error);
  }
}

function present(
  kind: StoredName["kind"],
  object: ConfigObject,
  compatibility: CompatibilitySettings | undefined,
): ReadConfig {
  try {
    const config = toConfig(kind, object, compatibility);
    return { state: "present", config, contentAt: contentWrittenAt(object.metadata ?? {}) };
  } catch (error) {
    return unreadConfig(error);
  }
}

/** What an error says to somebody who asked for configuration. */
export function unreadConfig(error: unknown): UnreadConfig {
  return { state: isForbidden(error) ? "forbidden" : "unreadable", error: errorText(error) };
}
