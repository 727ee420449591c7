import { formatCount } from "../syntax/wording.ts";
import type { ConfigName } from "./references.ts";

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
