/** The kinds that hold configuration. */
export type ConfigKind = "ConfigMap" | "Secret";

/** Every {@link ConfigKind}. */
export const configKinds: readonly ConfigKind[] = ["ConfigMap", "Secret"];

/** Which object is meant. */
export interface ConfigName {
  readonly kind: ConfigKind;
  readonly namespace: string;
  readonly name: string;
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

/** The key of a ConfigMap or Secret in stores and indexes: `ConfigMap/namespace/name`. */
export function configKey({ kind, namespace, name }: ConfigName): string {
  return `${kind}/${namespace}/${name}`;
}

/** What {@link configKey} was made of; throws an Error where the text is no such key. */
export function parseConfigKey(key: string): ConfigName {
  const [prefix, namespace, name, ...rest] = key.split("/");
  const kind = configKinds.find((known) => known === prefix);
  if (kind === undefined || !namespace || !name || rest.length > 0) {
    throw new Error(`"${key}" is not the key of a ConfigMap or Secret`);
  }
  return { kind, namespace, name };
}
