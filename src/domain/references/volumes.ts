import type { KeyToPath, VolumeMount } from "kubernetes-types/core/v1.d.ts";
import { PathTree } from "../syntax/path-tree.ts";
import type { Reading } from "./references.ts";

/** What `configMap`, `secret` and the same sources of `projected` volumes have in common. */
export interface VolumeSource {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

/** What the mounts of a volume show of it: the paths below it, or "all". */
export type Shown = "all" | { readonly tree: PathTree; readonly topNames: readonly string[] };

/**
 * What Pods see of an object through one source of a volume, given what its mounts show; and what must exist for the
 * Pods to start. Costs what the source and its answer have, not the mounts again.
 */
export function readVolume(source: VolumeSource, shown: Shown): readonly Reading[] {
  const { items = [], optional = false } = source;
  return items.length > 0 ? readItems(items, optional, shown) : readKeys(optional, shown);
}

/**
 * What every mount of a volume in containers and initContainers shows of it.
 *
 * A volume that no container mounts counts with all that it holds: the kubelet makes it all the same, and sidecar
 * injectors and ephemeral containers mount it where the workload's own template does not show it.
 */
export function shownBy(mounts: readonly VolumeMount[]): Shown {
  const tree = new PathTree();
  for (const { subPath = "" } of mounts) {
    // A subPathExpr stands in place of a subPath, and what it comes to is known in the Pod alone: all counts.
    const path = segments(subPath);
    // The kubelet keeps a volume's files in a folder ..data and links to them: through it everything is seen.
    if (path[0] === undefined || path[0].startsWith("..")) return "all";
    tree.add(path);
  }
  return mounts.length === 0 ? "all" : { tree, topNames: tree.topNames() };
}

/**
 * With `items`, the kubelet needs each of their keys to make the volume, also those that no mount shows, unless the
 * source is optional: "references non-existent config key".
 */
function readItems(items: readonly KeyToPath[], optional: boolean, shown: Shown): readonly Reading[] {
  const [seen, unseen]: [string[], string[]] = [[], []];
  // A file is seen where it is one of the paths, lies in a folder that is, or is a folder on the way to one.
  const shows = (path: string) => shown === "all" || shown.tree.crosses(segments(path));
  for (const { key, path } of items) (shows(path) ? seen : unseen).push(key);
  return [
    ...(seen.length > 0 ? [{ reads: "files", keys: seen, optional } as const] : []),
    ...(unseen.length > 0 && !optional ? [{ reads: "existence", keys: unseen, optional } as const] : []),
  ];
}

/**
 * Without `items`, the kubelet needs the object but no key: where a `subPath` names none, it makes an empty folder and
 * starts the container with that. So the keys are optional, the object is not.
 */
function readKeys(optional: boolean, shown: Shown): readonly Reading[] {
  if (shown === "all") return [{ reads: "files", keys: "all", optional }];
  return [
    ...(optional ? [] : [{ reads: "existence", keys: [], optional } as const]),
    { reads: "files", keys: shown.topNames, optional: true },
  ];
}

function segments(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}
