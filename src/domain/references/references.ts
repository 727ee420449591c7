/** The kinds whose content the API server stores. */
export type StoredKind = "ConfigMap" | "Secret";

/**
 * The kinds of configuration objects. A SecretProviderClass specifies what a driver fetches from an external store. The status of Pods that
 * mount it shows the current versions (see config/pod-status.ts).
 */
export type ConfigKind = StoredKind | "SecretProviderClass";

/** Every {@link ConfigKind}. */
export const configKinds: readonly ConfigKind[] = ["ConfigMap", "Secret", "SecretProviderClass"];

/** The kind, namespace and name of a configuration object. */
export interface ConfigName {
  readonly kind: ConfigKind;
  readonly namespace: string;
  readonly name: string;
}

/** The name of an object whose content the API server stores. */
export type StoredName = ConfigName & { readonly kind: StoredKind };

/** Reports whether the API server stores the content of an object. */
export function isStored(object: ConfigName): object is StoredName {
  return object.kind !== "SecretProviderClass";
}

/** The part of an object that one source in a pod spec reads, and whether Pods start without it. */
export interface Reading {
  /**
   * How Pods read the object. "env": environment variables read `data` only. "files": files show `data` and `binaryData`. "existence":
   * the Pod needs these keys (or the object, if `keys` is empty) to start, but reads no content.
   */
  readonly reads: "env" | "files" | "existence";
  /** The keys that Pods read, or "all" keys of the object. */
  readonly keys: "all" | readonly string[];
  /** Whether Pods start even if the object or its keys are missing. */
  readonly optional: boolean;
}

/** The place where a reference is written. */
export interface ReferenceOrigin {
  /**
   * The path of the field, for example `spec.template.spec.containers[0].env[1].valueFrom.secretKeyRef`. After merging, the
   * first such path.
   */
  readonly path: string;
  /** The name of the annotation at that path; absent if the path is not an annotation. */
  readonly annotation?: string;
}

/** One way in which the Pods of a workload read an object. */
export interface Reference extends ConfigName, Reading, ReferenceOrigin {
  /** Present if the reference applies only to objects that their owner marked for `search` of Stakater Reloader. */
  readonly requiresMark?: true;
}

/** Returns the origin of references that an annotation names. `metadata` is the path of the metadata that carry it. */
export function annotationOrigin(annotation: string, metadata = "metadata"): ReferenceOrigin {
  return { path: `${metadata}.annotations[${annotation}]`, annotation };
}

/**
 * Returns a reference to a whole object that does not have to exist. Pods do not wait for it: a missing object is a state like any
 * other.
 */
export function wholeObject(
  kind: ConfigKind,
  namespace: string,
  name: string,
  { path, annotation }: ReferenceOrigin,
): Reference {
  const origin = annotation === undefined ? { path } : { path, annotation };
  return { kind, namespace, name, reads: "files", keys: "all", optional: true, ...origin };
}

/** Returns the key of an object in stores and indexes: `ConfigMap/namespace/name`. */
export function configKey({ kind, namespace, name }: ConfigName): string {
  return `${kind}/${namespace}/${name}`;
}

/** Parses the key of an object whose content the API server stores. Throws an Error if the text is not such a key. */
export function parseStoredKey(key: string): StoredName {
  const object = parseConfigKey(key);
  if (!isStored(object)) throw new Error(`"${key}" is not the key of a ConfigMap or Secret`);
  return object;
}

/** Parses a key that {@link configKey} returned. Throws an Error if the text is not such a key. */
export function parseConfigKey(key: string): ConfigName {
  const [prefix, namespace, name, ...rest] = key.split("/");
  const kind = configKinds.find((known) => known === prefix);
  if (kind === undefined || !namespace || !name || rest.length > 0) {
    throw new Error(`"${key}" is not the key of a configuration object`);
  }
  return { kind, namespace, name };
}
