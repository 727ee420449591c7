import type { Container, KeyToPath, PodSpec, Volume, VolumeMount } from "#kubernetes";
import type { ConfigKind, Reading, Reference } from "../references/references.ts";

/** The Secrets Store CSI driver, and the volume attribute that names a class (https://secrets-store-csi-driver.sigs.k8s.io/concepts). */
const secretsStore = { driver: "secrets-store.csi.k8s.io", attribute: "secretProviderClass" };

/** Reports whether the Pods mount a volume of the Secrets Store driver. The driver may also create Secrets, but only when a Pod mounts the volume. */
export function mountsSecretsStore({ volumes }: PodSpec): boolean {
  return volumes?.some(({ csi }) => csi?.driver === secretsStore.driver) ?? false;
}

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
  const visit: SourceVisitor = (kind, name, field, readings) => {
    // The API server rejects a missing name if it matters.
    if (name)
      for (const { reads, keys, optional } of readings)
        found({ kind, namespace, name, reads, keys, optional, path: field });
  };
  for (const [i, container] of initContainers.entries())
    environmentOf(container, `${path}.initContainers[${i}]`, visit);
  for (const [i, container] of containers.entries()) environmentOf(container, `${path}.containers[${i}]`, visit);
  const visible = visiblePathsByVolume([...initContainers, ...containers]);
  for (const [i, volume] of volumes.entries()) {
    volumeReferences(volume, `${path}.volumes[${i}]`, visible.get(volume.name) ?? "all", visit);
  }
}

/** A function that receives the name of the object in a field of the pod spec, and what Pods read of the object through this field. */
type SourceVisitor = (kind: ConfigKind, name: string | undefined, field: string, readings: readonly Reading[]) => void;

function environmentOf({ envFrom = [], env = [] }: Container, path: string, visit: SourceVisitor): void {
  for (const [i, { configMapRef, secretRef }] of envFrom.entries()) {
    const field = `${path}.envFrom[${i}]`;
    if (configMapRef) visit("ConfigMap", configMapRef.name, `${field}.configMapRef`, readEnv("all", configMapRef));
    if (secretRef) visit("Secret", secretRef.name, `${field}.secretRef`, readEnv("all", secretRef));
  }
  for (const [i, { valueFrom }] of env.entries()) {
    const { configMapKeyRef: config, secretKeyRef: secret } = valueFrom ?? {};
    const field = `${path}.env[${i}].valueFrom`;
    if (config) visit("ConfigMap", config.name, `${field}.configMapKeyRef`, readEnv([config.key], config));
    if (secret) visit("Secret", secret.name, `${field}.secretKeyRef`, readEnv([secret.key], secret));
  }
}

function readEnv(keys: Reading["keys"], { optional = false }: { readonly optional?: boolean }): readonly Reading[] {
  return [{ reads: "env", keys, optional }];
}

function volumeReferences(volume: Volume, path: string, visible: VisiblePaths, visit: SourceVisitor): void {
  const { configMap, secret, csi, projected } = volume;
  if (configMap) visit("ConfigMap", configMap.name, `${path}.configMap`, readVolume(configMap, visible));
  if (secret) visit("Secret", secret.secretName, `${path}.secret`, readVolume(secret, visible));
  if (csi?.driver === secretsStore.driver) {
    // Wave does not wait for a class: its objects are known only after a Pod has mounted them.
    const readings = [{ reads: "files", keys: "all", optional: true }] as const;
    const { attribute } = secretsStore;
    visit(
      "SecretProviderClass",
      csi.volumeAttributes?.[attribute],
      `${path}.csi.volumeAttributes.${attribute}`,
      readings,
    );
  }
  for (const [i, source] of (projected?.sources ?? []).entries()) {
    const field = `${path}.projected.sources[${i}]`;
    if (source.configMap)
      visit("ConfigMap", source.configMap.name, `${field}.configMap`, readVolume(source.configMap, visible));
    if (source.secret) visit("Secret", source.secret.name, `${field}.secret`, readVolume(source.secret, visible));
  }
}

/** Returns the visible paths of each volume by name. Computed once, for any number of sources of the volume. */
function visiblePathsByVolume(containers: readonly Container[]): ReadonlyMap<string, VisiblePaths> {
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  const byVolume: ReadonlyMap<string, readonly VolumeMount[]> = Map.groupBy(mounts, ({ name }) => name);
  return new Map(Array.from(byVolume, ([name, ofVolume]) => [name, visiblePathsOf(ofVolume)]));
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
