import { counted } from "../syntax/wording.ts";
import type { ConfigName } from "./references.ts";

/** What one object may cost everybody else. */
export interface Limit {
  readonly most: number;
  /** What is counted: `it has 12,000 …`. */
  readonly counts: string;
  /** What a person who needs more can do. */
  readonly instead: string;
}

/**
 * The budgets, far above what real objects have: what is within them is planned in a tenth of a second, on one core that
 * everybody shares. docs/limits.md has this table.
 */
export const limits = {
  annotations: {
    most: 32_768,
    counts: "bytes of Wave's annotations, names and values, on itself and its pod template",
    instead: "name fewer objects in extra-configmaps and extra-secrets",
  },
  places: {
    most: 5_000,
    counts: "places in its pod template and annotations that name an object or one of its keys",
    instead: "read whole objects by envFrom or a volume",
  },
  objects: {
    most: 1_000,
    counts: "ConfigMaps and Secrets that it refers to",
    instead: "put what belongs together into one object",
  },
  providerClasses: {
    most: 50,
    counts: "SecretProviderClasses that it refers to",
    instead: "fetch more objects by each",
  },
  keys: {
    most: 5_000,
    counts: "keys that its Pods read",
    instead: "read only those that it needs, by items or by name",
  },
  keysOfObject: {
    most: 5_000,
    counts: "keys in one ConfigMap or Secret that it refers to",
    instead: "split that object, or put its keys into one file",
  },
  patterns: {
    most: 2_000,
    counts: "steps in the different regular expressions of workloads in its namespace, or much effort to match them",
    instead: "name objects without special signs, or use fewer and shorter expressions",
  },
  namespace: {
    most: 20,
    counts: "MiB that Wave keeps of its namespace",
    instead: "use several namespaces, or name fewer objects and keys in all of its workloads, ConfigMaps and Secrets",
  },
} as const satisfies Readonly<Record<string, Limit>>;

/**
 * How many bytes the annotation `shared-with` of a ConfigMap or Secret may have: a longer one shares it with nobody. "*"
 * shares with all.
 */
export const mostSharedWithBytes = 8_192;

/** A budget that is exceeded, and by how much. */
export interface LimitExceeded {
  readonly budget: keyof typeof limits;
  readonly count: number;
  /** The object that is too large, where one is. */
  readonly object?: ConfigName;
}

/** What is too much, and what to do: one line. The object is named by `describe`. */
export function describeLimitExceeded(
  { budget, count, object }: LimitExceeded,
  describe: (object: ConfigName) => string,
): string {
  const { most, counts, instead } = limits[budget];
  const which = object === undefined ? "" : ` (${describe(object)})`;
  return `${counted(count)} ${counts}${which}, ${counted(count - most)} more than Wave takes on: ${instead}`;
}
