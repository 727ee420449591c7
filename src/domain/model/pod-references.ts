import type {
  Container,
  EnvFromSource,
  EnvVarSource,
  KeyToPath,
  PodSpec,
  Volume,
  VolumeMount,
  VolumeProjection,
} from "#kubernetes";
import { type ConfigKind, type Reading, type Reference, wholeObject } from "../references/references.ts";

/** A field of the pod spec that references a ConfigMap or Secret. */
interface Source<Owner, Value> {
  readonly field: string;
  readonly kind: ConfigKind;
  readonly of: (owner: Owner) => Value | undefined;
}

interface KeySelector {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

interface WholeObject {
  readonly name?: string;
  readonly optional?: boolean;
}

interface NamedVolumeSource extends VolumeSource {
  readonly name?: string;
}

const envSources: readonly Source<EnvVarSource, KeySelector>[] = [
  { field: "configMapKeyRef", kind: "ConfigMap", of: (source) => source.configMapKeyRef },
  { field: "secretKeyRef", kind: "Secret", of: (source) => source.secretKeyRef },
];

const envFromSources: readonly Source<EnvFromSource, WholeObject>[] = [
  { field: "configMapRef", kind: "ConfigMap", of: (source) => source.configMapRef },
  { field: "secretRef", kind: "Secret", of: (source) => source.secretRef },
];

const volumeSources: readonly Source<Volume, NamedVolumeSource>[] = [
  { field: "configMap", kind: "ConfigMap", of: (volume) => volume.configMap },
  // The only place where the API has another name for the field.
  { field: "secret", kind: "Secret", of: ({ secret }) => secret && { ...secret, name: secret.secretName ?? "" } },
];

/** The Secrets Store CSI driver, and the volume attribute that names a class (https://secrets-store-csi-driver.sigs.k8s.io/concepts). */
const secretsStore = { driver: "secrets-store.csi.k8s.io", attribute: "secretProviderClass" };

/** Reports whether the Pods mount a volume of the Secrets Store driver. The driver may also create Secrets, but only when a Pod mounts the volume. */
export function mountsSecretsStore({ volumes }: PodSpec): boolean {
  return volumes?.some(({ csi }) => csi?.driver === secretsStore.driver) ?? false;
}

const projectedSources: readonly Source<VolumeProjection, NamedVolumeSource>[] = [
  { field: "configMap", kind: "ConfigMap", of: (source) => source.configMap },
  { field: "secret", kind: "Secret", of: (source) => source.secret },
];

/** A function that receives each reference that is found. */
export type ReferenceVisitor = (reference: Reference) => void;

/**
 * Calls `found` for every reference of a pod spec to configuration that its Pods read, one for each place, in the order of the spec.
 * Includes sidecars, which are initContainers. Excludes imagePullSecrets and the secrets of storage drivers, which no container
 * reads. References may share lists of keys.
 */
export function podReferences(spec: PodSpec, namespace: string, found: ReferenceVisitor): void {
  const { volumes = [], initContainers = [], containers = [] } = spec;
  const path = "spec.template.spec";
  for (const [i, container] of initContainers.entries()) {
    environmentOf(container, `${path}.initContainers[${i}]`, namespace, found);
  }
  for (const [i, container] of containers.entries()) {
    environmentOf(container, `${path}.containers[${i}]`, namespace, found);
  }
  const visible = visiblePathsByVolume([...initContainers, ...containers]);
  for (const [i, volume] of volumes.entries()) {
    volumeReferences(volume, `${path}.volumes[${i}]`, namespace, visible.get(volume.name) ?? "all", found);
  }
}

function environmentOf(
  { envFrom = [], env = [] }: Container,
  path: string,
  namespace: string,
  found: ReferenceVisitor,
): void {
  for (const [i, source] of envFrom.entries()) {
    read(envFromSources, source, `${path}.envFrom[${i}]`, namespace, readAll, found);
  }
  for (const [i, { valueFrom }] of env.entries()) {
    if (valueFrom) read(envSources, valueFrom, `${path}.env[${i}].valueFrom`, namespace, readKey, found);
  }
}

function readAll({ optional = false }: WholeObject): readonly Reading[] {
  return [{ reads: "env", keys: "all", optional }];
}

function readKey({ key, optional = false }: KeySelector): readonly Reading[] {
  return [{ reads: "env", keys: [key], optional }];
}

function volumeReferences(
  volume: Volume,
  path: string,
  namespace: string,
  visible: VisiblePaths,
  found: ReferenceVisitor,
): void {
  const reading = (source: VolumeSource) => readVolume(source, visible);
  read(volumeSources, volume, path, namespace, reading, found);
  const { driver, volumeAttributes } = volume.csi ?? {};
  const className = driver === secretsStore.driver ? volumeAttributes?.[secretsStore.attribute] : undefined;
  if (typeof className === "string" && className !== "") {
    // Wave does not wait for a class: its objects are known only after a Pod has mounted them.
    const origin = `${path}.csi.volumeAttributes.${secretsStore.attribute}`;
    found(wholeObject("SecretProviderClass", namespace, className, { path: origin }));
  }
  for (const [i, source] of (volume.projected?.sources ?? []).entries()) {
    read(projectedSources, source, `${path}.projected.sources[${i}]`, namespace, reading, found);
  }
}

/** Returns the visible paths of each volume by name. Computed once, for any number of sources of the volume. */
function visiblePathsByVolume(containers: readonly Container[]): ReadonlyMap<string, VisiblePaths> {
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  const byVolume: ReadonlyMap<string, readonly VolumeMount[]> = Map.groupBy(mounts, ({ name }) => name);
  return new Map(Array.from(byVolume, ([name, ofVolume]) => [name, visiblePathsOf(ofVolume)]));
}

function read<Owner, Value extends { readonly name?: string }>(
  sources: readonly Source<Owner, Value>[],
  owner: Owner,
  path: string,
  namespace: string,
  reading: (value: Value) => readonly Reading[],
  found: ReferenceVisitor,
): void {
  for (const { field, kind, of } of sources) {
    const value = of(owner);
    // The API server rejects a missing name if it matters.
    if (!value?.name) continue;
    for (const { reads, keys, optional } of reading(value)) {
      found({ kind, namespace, name: value.name, reads, keys, optional, path: `${path}.${field}` });
    }
  }
}

/** The fields that `configMap`, `secret` and the same sources of `projected` volumes have in common. */
export interface VolumeSource {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

/** The paths of a volume that its mounts show, or "all" of them. */
type VisiblePaths = "all" | { readonly tree: PathTree; readonly topNames: readonly string[] };

/**
 * Returns what Pods read of an object through one source of a volume, and which keys must exist for the Pods to start. Takes time in
 * proportion to the source and the result, independent of the number of mounts.
 */
export function readVolume(source: VolumeSource, visible: VisiblePaths): readonly Reading[] {
  const { items = [], optional = false } = source;
  return items.length > 0 ? readItems(items, optional, visible) : readKeys(optional, visible);
}

/**
 * Returns the paths that the mounts of a volume in containers and initContainers show.
 *
 * A volume without mounts is visible completely. The kubelet creates it anyway, and sidecar injectors and ephemeral containers can
 * mount it, which the template of the workload does not show.
 */
export function visiblePathsOf(mounts: readonly VolumeMount[]): VisiblePaths {
  const tree = new PathTree();
  for (const { subPath = "" } of mounts) {
    // Only the Pod knows the value of a subPathExpr, which replaces a subPath: assume that everything is visible.
    const path = segments(subPath);
    // The kubelet keeps the files of a volume in the folder ..data and links to them. That folder shows everything.
    if (path[0] === undefined || path[0].startsWith("..")) return "all";
    tree.add(path);
  }
  return mounts.length === 0 ? "all" : { tree, topNames: tree.topNames() };
}

/**
 * Returns what Pods read with `items`. Unless the source is optional, the kubelet needs the keys of all items to create the volume,
 * even those that no mount shows: "references non-existent config key".
 */
function readItems(items: readonly KeyToPath[], optional: boolean, visible: VisiblePaths): readonly Reading[] {
  const [read, unread]: [string[], string[]] = [[], []];
  // A file is visible if it is one of the paths, lies in a folder that is one, or is a folder on the way to one.
  const isVisible = (path: string) => visible === "all" || visible.tree.crosses(segments(path));
  for (const { key, path } of items) (isVisible(path) ? read : unread).push(key);
  return [
    ...(read.length > 0 ? [{ reads: "files", keys: read, optional } as const] : []),
    ...(unread.length > 0 && !optional ? [{ reads: "existence", keys: unread, optional } as const] : []),
  ];
}

/**
 * Returns what Pods read without `items`. The kubelet needs the object but no key: if a `subPath` names a missing key, the kubelet creates
 * an empty folder and starts the container. So the keys are optional, but the object is not.
 */
function readKeys(optional: boolean, visible: VisiblePaths): readonly Reading[] {
  if (visible === "all") return [{ reads: "files", keys: "all", optional }];
  return [
    ...(optional ? [] : [{ reads: "existence", keys: [], optional } as const]),
    { reads: "files", keys: visible.topNames, optional: true },
  ];
}

function segments(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

interface PathNode {
  readonly children: Map<string, PathNode>;
  /** Whether an added path ends at this segment. */
  ends: boolean;
}

/** A set of paths, each a list of segments. Adding and finding a path take time in proportion to its own segments only. */
export class PathTree {
  readonly #root: PathNode = { children: new Map(), ends: false };

  /** Adds a path. No-op if the tree already has it. */
  add(path: readonly string[]): void {
    let at = this.#root;
    for (const segment of path) {
      const next = at.children.get(segment) ?? { children: new Map(), ends: false };
      at.children.set(segment, next);
      at = next;
    }
    at.ends = true;
  }

  /** Reports whether a path equals an added path, lies inside one, or contains one. */
  crosses(path: readonly string[]): boolean {
    let at = this.#root;
    for (const segment of path) {
      if (at.ends) return true;
      const next = at.children.get(segment);
      if (next === undefined) return false;
      at = next;
    }
    return true;
  }

  /** Returns the distinct first segments of the added paths, in the order in which they were added. */
  topNames(): readonly string[] {
    return [...this.#root.children.keys()];
  }
}
