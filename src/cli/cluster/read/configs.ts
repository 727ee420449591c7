import { ProviderClasses } from "../../../cache/configs/mounted-classes.ts";
import { configResources, readStoredObject } from "../../../cache/live/live-configs.ts";
import type { CompatibilitySettings } from "../../../domain/compatibility/directive.ts";
import { type Config, type ConfigObject, toConfig } from "../../../domain/config/digest.ts";
import { type PodStatusObject, toPodStatus } from "../../../domain/config/pod-status.ts";
import { editedBy } from "../../../domain/references/annotations.ts";
import { contentEditedBy, contentWrittenAt, epochSeconds } from "../../../domain/references/field-managers.ts";
import { type ConfigName, configKey, isStored, type StoredName } from "../../../domain/references/references.ts";
import { isForbidden, isNotFound } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { listAll, mapBounded } from "../requests.ts";

/** The state of an object when it was read. Values are not kept: a Config has digests only. */
export type ReadConfig = PresentConfig | { readonly state: "absent" } | UnreadConfig;

/** An object that exists. */
export interface PresentConfig {
  readonly state: "present";
  readonly config: Config;
  /** When the content last changed, in seconds since the epoch; absent if the API does not show it separately. */
  readonly contentAt?: number;
  /** The field manager that changed the content last, and of a pinned copy the first that wrote its content; absent if unknown. */
  readonly editedBy?: string | undefined;
  /** The creation of an immutable object, in seconds since the epoch; absent if it is not immutable. */
  readonly immutableSince?: number;
}

/** Returns an object if it exists. */
export function presentOf(found: ReadConfig | undefined): PresentConfig | undefined {
  return found?.state === "present" ? found : undefined;
}

/** An object that could not be read. "forbidden": the user lacks permission; "unreadable": the request failed or the object is malformed. */
export interface UnreadConfig {
  readonly state: "forbidden" | "unreadable";
  readonly error: string;
}

/** The objects that were read, by `configKey`. */
export type ReadConfigs = ReadonlyMap<string, ReadConfig>;

/** Up to this number, objects of one kind and namespace are read by one GET each; more are read by one list. */
export const fewObjects = 10;

/** Reads each ConfigMap and Secret with a GET, and SecretProviderClasses from Pods. Never rejects: the state of an object shows a failed read. */
export async function readConfigs(
  client: ApiClient,
  objects: readonly ConfigName[],
  compatibility?: CompatibilitySettings,
): Promise<ReadConfigs> {
  const classes = Map.groupBy(
    objects.filter((object) => !isStored(object)),
    ({ namespace }) => namespace,
  );
  const get = async (object: StoredName) => [configKey(object), await readOne(client, object, compatibility)] as const;
  const read = await Promise.all([
    mapBounded(objects.filter(isStored), get),
    ...classes.values().map((group) => readClasses(client, group)),
  ]);
  return new Map(read.flatMap((each) => [...each]));
}

/** Returns when the content of an object was edited, in seconds since the epoch; undefined if that is unknown. */
export function editedAt(found: ReadConfig | undefined): number | undefined {
  return found?.state === "present" ? (found.contentAt ?? found.config.changedAt) : undefined;
}

/** Reads the objects of thousands of workloads: each object once, and by a list if a namespace has many. Never rejects. */
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
      : readConfigs(client, group, compatibility);
  });
  return new Map(read.flatMap((each) => [...each]));
}

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

/** Reads the SecretProviderClasses of one namespace from the status of its Pods; "absent" means that no Pod mounts the class. */
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
  client: ApiClient,
  object: StoredName,
  compatibility: CompatibilitySettings | undefined,
): Promise<ReadConfig> {
  try {
    const found = await readStoredObject(client, object);
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
    const metadata = object.metadata ?? {};
    const read = {
      config,
      contentAt: contentWrittenAt(metadata),
      editedBy: config.isCopy ? metadata.annotations?.[editedBy] : contentEditedBy(metadata),
    };
    const immutableSince = object.immutable ? epochSeconds(metadata.creationTimestamp) : undefined;
    return { state: "present", ...read, ...(immutableSince && { immutableSince }) };
  } catch (error) {
    return unreadConfig(error);
  }
}

/** Returns the state of an object whose read failed with this error. */
export function unreadConfig(error: unknown): UnreadConfig {
  return { state: isForbidden(error) ? "forbidden" : "unreadable", error: errorText(error) };
}

/**
 * Reads the object versions that SecretProviderClasses of a namespace have fetched, from the status objects of Pods. Returns an empty list
 * if the CSI driver is not installed. Rejects if the status objects cannot be read.
 */
export async function readProviderClasses(client: ApiClient, namespace: string): Promise<readonly Config[]> {
  const classes = new ProviderClasses(() => {});
  const take = (object: KubeObject & PodStatusObject) => {
    classes.update({ before: undefined, after: toPodStatus(object, Date.now() / 1000), initial: true });
    return undefined;
  };
  try {
    await listAll(client, resources.secretProviderClassPodStatuses, { namespace }, take);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return [...classes.valuesIn(namespace)];
}
