import type { KeyToPath, VolumeMount } from "#kubernetes";
import type { Reading } from "./references.ts";

/** The fields that `configMap`, `secret` and the same sources of `projected` volumes have in common. */
export interface VolumeSource {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

/** The paths of a volume that its mounts show, or "all" of them. */
export type VisiblePaths = "all" | { readonly tree: PathTree; readonly topNames: readonly string[] };

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
