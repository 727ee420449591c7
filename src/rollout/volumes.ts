import type { KeyToPath, VolumeMount } from "kubernetes-types/core/v1.d.ts";
import type { Reading } from "./references.ts";

/** What `configMap`, `secret` and the same sources of `projected` volumes have in common. */
export interface VolumeSource {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

/**
 * What Pods see of an object through one source of a volume, given every mount of that volume in containers and
 * initContainers; and what must exist for the Pods to start.
 *
 * A volume that no container mounts counts with all that it holds: the kubelet makes it all the same, and sidecar
 * injectors and ephemeral containers mount it where the workload's own template does not show it.
 */
export function readVolume(source: VolumeSource, mounts: readonly VolumeMount[]): readonly Reading[] {
  const { items = [], optional = false } = source;
  const subPaths = narrowed(mounts);
  return items.length > 0 ? readItems(items, optional, subPaths) : readKeys(optional, subPaths);
}

/**
 * With `items`, the kubelet needs each of their keys to make the volume, also those that no mount shows, unless the
 * source is optional: "references non-existent config key".
 */
function readItems(items: readonly KeyToPath[], optional: boolean, subPaths: SubPaths): readonly Reading[] {
  const [seen, unseen]: [string[], string[]] = [[], []];
  for (const { key, path } of items) (shows(subPaths, path) ? seen : unseen).push(key);
  return [
    ...(seen.length > 0 ? [{ reads: "files", keys: seen, optional } as const] : []),
    ...(unseen.length > 0 && !optional ? [{ reads: "existence", keys: unseen, optional } as const] : []),
  ];
}

/**
 * Without `items`, the kubelet needs the object but no key: where a `subPath` names none, it makes an empty folder and
 * starts the container with that. So the keys are optional, the object is not.
 */
function readKeys(optional: boolean, subPaths: SubPaths): readonly Reading[] {
  if (subPaths === "all") return [{ reads: "files", keys: "all", optional }];
  const keys = subPaths.map((path) => path.split("/")[0] ?? path);
  return [
    ...(optional ? [] : [{ reads: "existence", keys: [], optional } as const]),
    { reads: "files", keys, optional: true },
  ];
}

/** The paths below a volume that its mounts show, or "all" of it. */
type SubPaths = "all" | readonly string[];

function narrowed(mounts: readonly VolumeMount[]): SubPaths {
  const paths: string[] = [];
  for (const { subPath = "" } of mounts) {
    // A subPathExpr stands in place of a subPath, and what it comes to is known in the Pod alone: all counts.
    const path = normalized(subPath);
    // The kubelet keeps a volume's files in a folder ..data and links to them: through it everything is seen.
    if (path === "" || path.startsWith("..")) return "all";
    paths.push(path);
  }
  return paths.length === 0 ? "all" : paths;
}

/** Whether a file is seen: it is one of the paths, or lies in a folder that is. */
function shows(subPaths: SubPaths, path: string): boolean {
  if (subPaths === "all") return true;
  const file = normalized(path);
  return subPaths.some(
    (subPath) => file === subPath || file.startsWith(`${subPath}/`) || subPath.startsWith(`${file}/`),
  );
}

function normalized(path: string): string {
  return path
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")
    .join("/");
}
