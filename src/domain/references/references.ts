import { formatCount, formatList, isDnsLabel, isDnsSubdomain, quoted, splitList } from "../syntax/names.ts";
import { extraConfigMaps, extraSecrets, type WorkloadAnnotations, workloadFirst } from "./annotations.ts";
import { invalidAnnotationTexts } from "./warning.ts";

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

/** A limit of what one object may cost the other users of Wave. */
export interface Limit {
  readonly max: number;
  /** What the limit counts, for a message: `12,000 …`. */
  readonly unit: string;
  /** What a person who needs more can do: an imperative sentence without the final period. */
  readonly advice: string;
}

/**
 * The limits, far above the size of real objects. Wave plans anything within the limits in a tenth of a second, on the one core that
 * all workloads share. docs/kinds.md has this table.
 */
export const limits = {
  annotations: {
    max: 32_768,
    unit: "bytes of Wave annotations (names and values) on the workload and its pod template",
    advice: "Name fewer objects in extra-configmaps and extra-secrets",
  },
  places: {
    max: 5_000,
    unit: "places in the pod template and annotations that name an object or one of its keys",
    advice: "Read whole objects with envFrom or a volume",
  },
  objects: {
    max: 1_000,
    unit: "ConfigMaps and Secrets that the workload references",
    advice: "Combine related keys in one object",
  },
  providerClasses: {
    max: 50,
    unit: "SecretProviderClasses that the workload references",
    advice: "Fetch more objects with each SecretProviderClass",
  },
  keys: {
    max: 5_000,
    unit: "keys that the Pods read",
    advice: "Select only the keys that the Pods need, by items or by name",
  },
  keysOfObject: {
    max: 5_000,
    unit: "keys in one ConfigMap or Secret that the workload references",
    advice: "Split that object, or combine its keys in one file",
  },
  patterns: {
    max: 2_000,
    unit: "steps in the distinct regular expressions of the workloads in the namespace, or too much work to match them",
    advice: "Write plain names of objects, or use fewer and shorter expressions",
  },
  namespace: {
    max: 20,
    unit: "MiB that Wave caches for the namespace",
    advice:
      "Use several namespaces, or name fewer objects and keys in all workloads, ConfigMaps and Secrets of the namespace",
  },
} as const satisfies Readonly<Record<string, Limit>>;

/**
 * The longest `shared-with` annotation of a ConfigMap or Secret, in bytes. Wave ignores a longer annotation, so that the object is
 * not shared. "*" shares with all namespaces.
 */
export const maxSharedWithBytes = 8_192;

/** How many keys of `data` or `binaryData` Wave parses. */
export const parsedKeys = 20_000;

/** A limit that is exceeded, with the actual count. */
export interface LimitExceeded {
  readonly limit: keyof typeof limits;
  readonly count: number;
  /** The limit that applies, if it is lower than usual because other namespaces use the memory. */
  readonly max?: number;
  /** The object that is too large; undefined if the limit is not about a single object. */
  readonly object?: ConfigName;
}

/** Returns one line with the actual count, the limit, and what to do. `describe` names the object. */
export function describeLimitExceeded(
  { limit, count, max: lower, object }: LimitExceeded,
  describe: (object: ConfigName) => string,
): string {
  const { max, unit, advice } = limits[limit];
  const which = object === undefined ? "" : ` (${describe(object)})`;
  if (lower === undefined) return `${formatCount(count)} ${unit}${which}, limit ${formatCount(max)}. ${advice}.`;
  return `${formatCount(count)} ${unit}${which}, limit ${formatCount(lower)} in the memory that is left. Raise the memory limit of Wave, or n${advice.slice(advice.indexOf("name fewer") + 1)}.`;
}

const sources: readonly { readonly kind: ConfigKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: extraConfigMaps },
  { kind: "Secret", annotation: extraSecrets },
];

/** Limit of invalid entries that a message shows. */
const shownEntries = 2;

/**
 * Returns the objects that the annotations `extra-configmaps` and `extra-secrets` name, as comma-separated `name` or
 * `namespace/name`. These objects are required, with all their keys. Returns one message per annotation with invalid entries.
 */
export function extraReferences(
  source: WorkloadAnnotations,
  namespace: string,
): { readonly references: readonly Reference[]; readonly mistakes: readonly string[] } {
  const references: Reference[] = [];
  const mistakes: string[] = [];
  for (const { kind, annotation } of sources) {
    const { value, metadata } = workloadFirst(source, annotation);
    const origin = annotationOrigin(annotation, metadata);
    const invalid: string[] = [];
    for (const entry of splitList(value)) {
      const name = parseEntry(entry, namespace);
      if (name === undefined) invalid.push(entry);
      else references.push({ kind, ...name, reads: "files", keys: "all", optional: false, ...origin });
    }
    if (invalid.length > 0) mistakes.push(mistake(annotation, invalid));
  }
  return { references, mistakes };
}

function parseEntry(entry: string, own: string): { readonly namespace: string; readonly name: string } | undefined {
  const slash = entry.indexOf("/");
  const namespace = slash === -1 ? own : entry.slice(0, slash);
  const name = entry.slice(slash + 1);
  const valid = (slash === -1 || isDnsLabel(namespace)) && isDnsSubdomain(name);
  return valid ? { namespace, name } : undefined;
}

function mistake(annotation: string, entries: readonly string[]): string {
  const shown = formatList(entries, shownEntries, quoted);
  return entries.length === 1
    ? invalidAnnotationTexts.invalidEntry(annotation, shown)
    : invalidAnnotationTexts.invalidEntries(formatCount(entries.length), annotation, shown);
}
