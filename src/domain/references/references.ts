/** The kinds of which the API server has the configuration itself. */
export type StoredKind = "ConfigMap" | "Secret";

/**
 * The kinds that configuration is of. A SecretProviderClass says what a driver fetches from elsewhere; what that is at a time
 * is known from the Pods that mount it, as provider-classes/ has it.
 */
export type ConfigKind = StoredKind | "SecretProviderClass";

/** Every {@link ConfigKind}. */
export const configKinds: readonly ConfigKind[] = ["ConfigMap", "Secret", "SecretProviderClass"];

/** Which object is meant. */
export interface ConfigName {
  readonly kind: ConfigKind;
  readonly namespace: string;
  readonly name: string;
}

/** An object that the API server has. */
export type StoredName = ConfigName & { readonly kind: StoredKind };

/** Whether an object is one that the API server has. */
export function isStored(object: ConfigName): object is StoredName {
  return object.kind !== "SecretProviderClass";
}

/** What a source of configuration shows, and whether Pods start without it. */
export interface Reading {
  /**
   * What looks at the object: environment variables see only `data`; files see `binaryData` too; "existence" means
   * that the Pod cannot start without these keys, or without the object where `keys` is empty, but sees none of it.
   */
  readonly reads: "env" | "files" | "existence";
  /** The keys that are read, or all that the object has. */
  readonly keys: "all" | readonly string[];
  /** Whether Pods start without the object and its keys. */
  readonly optional: boolean;
}

/** One way in which the Pods of a workload read an object. */
export interface Reference extends ConfigName, Reading {
  /**
   * Where it is written, for example `spec.template.spec.containers[0].env[1].valueFrom.secretKeyRef`; after merging,
   * the first such place.
   */
  readonly path: string;
  /** Whether it counts only where the owner of the object marked that for those who search; absent: it counts. */
  readonly ifMarked?: true;
}

/** The key of such an object in stores and indexes: `ConfigMap/namespace/name`. */
export function configKey({ kind, namespace, name }: ConfigName): string {
  return `${kind}/${namespace}/${name}`;
}

/** The same of an object that the API server has; throws an Error where the text is no key of such a one. */
export function parseStoredKey(key: string): StoredName {
  const object = parseConfigKey(key);
  if (!isStored(object)) throw new Error(`"${key}" is no object that could be read`);
  return object;
}

/** What {@link configKey} was made of; throws an Error where the text is no such key. */
export function parseConfigKey(key: string): ConfigName {
  const [prefix, namespace, name, ...rest] = key.split("/");
  const kind = configKinds.find((known) => known === prefix);
  if (kind === undefined || !namespace || !name || rest.length > 0) {
    throw new Error(`"${key}" is not the key of configuration`);
  }
  return { kind, namespace, name };
}
