import type { StoredObject } from "./record.ts";

/** One reference to a ConfigMap or Secret in a workload, with the effect that Kubernetes and the README of Wave describe. */
export interface Place {
  readonly kind: "ConfigMap" | "Secret";
  readonly namespace: string;
  readonly name: string;
  /** Environment variables see only `data`; files also see `binaryData`. */
  readonly through: "variables" | "files";
  /** The keys that are visible; "*": all existing keys. */
  readonly shown: "*" | readonly string[];
  /** Whether the object must exist before Pods can start. */
  readonly needsObject: boolean;
  /** The keys that must exist before Pods can start. */
  readonly needsKeys: readonly string[];
}

interface Source {
  readonly name?: string;
  readonly secretName?: string;
  readonly optional?: boolean;
  readonly key?: string;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

interface Sources {
  readonly configMap?: Source;
  readonly secret?: Source;
}

interface Container {
  readonly envFrom?: readonly { readonly configMapRef?: Source; readonly secretRef?: Source }[];
  readonly env?: readonly {
    readonly valueFrom?: { readonly configMapKeyRef?: Source; readonly secretKeyRef?: Source };
  }[];
  readonly volumeMounts?: readonly Mount[];
}

interface Mount {
  readonly name: string;
  readonly subPath?: string;
}

interface Volume extends Sources {
  readonly name: string;
  readonly projected?: { readonly sources?: readonly Sources[] };
}

/** The fields of a workload that the model reads; the API server has checked their types. */
export interface WorkloadSpec {
  readonly volumeClaimTemplates?: readonly { readonly metadata?: { readonly name?: string } }[];
  readonly template?: {
    readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
    readonly spec?: {
      readonly schedulerName?: string;
      readonly containers?: readonly Container[];
      readonly initContainers?: readonly Container[];
      readonly volumes?: readonly Volume[];
    };
  };
}

type Kind = Place["kind"];
type Partial = Omit<Place, "kind" | "namespace" | "name">;

/** Returns every reference to configuration of a workload, in its pod template and in its annotations `extra-…`. */
export function placesOf(workload: StoredObject): readonly Place[] {
  const { namespace = "", annotations = {} } = workload.metadata;
  const spec = workload.spec as WorkloadSpec | undefined;
  const pod = spec?.template?.spec ?? {};
  const containers = [...(pod.initContainers ?? []), ...(pod.containers ?? [])];
  const places: Place[] = [];
  const add = (kind: Kind, source: Source | undefined, partial: (source: Source) => readonly Partial[]) => {
    const name = source?.name ?? source?.secretName ?? "";
    if (source === undefined || name === "") return;
    for (const one of partial(source)) places.push({ kind, namespace, name, ...one });
  };
  for (const { envFrom = [], env = [] } of containers) {
    for (const { configMapRef, secretRef } of envFrom) {
      add("ConfigMap", configMapRef, allVariables);
      add("Secret", secretRef, allVariables);
    }
    for (const { valueFrom } of env) {
      add("ConfigMap", valueFrom?.configMapKeyRef, oneVariable);
      add("Secret", valueFrom?.secretKeyRef, oneVariable);
    }
  }
  // A volume claim of a StatefulSet hides a volume with the same name.
  const claims = new Set(spec?.volumeClaimTemplates?.map(({ metadata }) => metadata?.name));
  for (const volume of pod.volumes ?? []) {
    if (claims.has(volume.name)) continue;
    const mounts = containers
      .flatMap(({ volumeMounts = [] }) => volumeMounts)
      .filter(({ name }) => name === volume.name);
    for (const sources of [volume, ...(volume.projected?.sources ?? [])]) {
      add("ConfigMap", sources.configMap, (source) => files(source, mounts));
      add("Secret", sources.secret, (source) => files(source, mounts));
    }
  }
  return [...places, ...extras("ConfigMap", annotations, namespace), ...extras("Secret", annotations, namespace)];
}

function allVariables({ optional = false }: Source): readonly Partial[] {
  return [{ through: "variables", shown: "*", needsObject: !optional, needsKeys: [] }];
}

function oneVariable({ key = "", optional = false }: Source): readonly Partial[] {
  return [{ through: "variables", shown: [key], needsObject: !optional, needsKeys: optional ? [] : [key] }];
}

/**
 * Returns what the mounts of a volume show of it. A mount with `subPath` shows a file, or a folder of files. Any other mount
 * shows everything. A volume without a mount also shows everything.
 */
function files({ items = [], optional = false }: Source, mounts: readonly Mount[]): readonly Partial[] {
  const paths = mounts.map(({ subPath = "" }) => parts(subPath));
  const whole = paths.length === 0 || paths.some(([first]) => first === undefined || first.startsWith(".."));
  if (items.length > 0) {
    const shown = items.filter(({ path }) => whole || paths.some((one) => oneIsWithinTheOther(one, parts(path))));
    const needsKeys = optional ? [] : items.map(({ key }) => key);
    return [{ through: "files", shown: shown.map(({ key }) => key), needsObject: !optional, needsKeys }];
  }
  const shown = whole ? "*" : paths.flatMap(([first]) => first ?? []);
  return [{ through: "files", shown, needsObject: !optional, needsKeys: [] }];
}

function parts(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function oneIsWithinTheOther(a: readonly string[], b: readonly string[]): boolean {
  return a.slice(0, b.length).join("/") === b.slice(0, a.length).join("/");
}

const extraAnnotations = { ConfigMap: "wave.pusher.com/extra-configmaps", Secret: "wave.pusher.com/extra-secrets" };

/** The simulation uses only well-formed names; malformed names are ignored. */
function extras(kind: Kind, annotations: Readonly<Record<string, string>>, own: string): readonly Place[] {
  const entries = (annotations[extraAnnotations[kind]] ?? "").split(",").map((entry) => entry.trim());
  return entries.flatMap((entry): readonly Place[] => {
    const match = /^(?:([a-z0-9-]+)\/)?([a-z0-9][a-z0-9.-]*)$/.exec(entry);
    if (match === null) return [];
    const [, namespace = own, name = ""] = match;
    return [{ kind, namespace, name, through: "files", shown: "*", needsObject: true, needsKeys: [] }];
  });
}
