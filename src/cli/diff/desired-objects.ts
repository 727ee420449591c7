import { configResources } from "../../cache/live/live-configs.ts";
import type { WorkloadRow } from "../../domain/model/workload.ts";
import type { StoredKind } from "../../domain/references/references.ts";
import { UsageError } from "../flags/usage-error.ts";
import { describeManifest, inNamespace, type Manifest } from "./manifests/manifest.ts";

/** A manifest of an object that has a name and a place. */
export interface NamedManifest extends Manifest {
  readonly name: string;
  readonly namespace: string;
}

/** What of the manifests may make a workload roll. */
export interface DesiredObjects {
  readonly workloads: readonly { readonly row: WorkloadRow; readonly manifest: NamedManifest }[];
  readonly configs: readonly { readonly kind: StoredKind; readonly manifest: NamedManifest }[];
  readonly namespaces: readonly NamedManifest[];
  /** What a person should know of the others, a line each. */
  readonly notes: readonly string[];
}

const hook = "helm.sh/hook";
/** Hooks that neither an install nor an upgrade runs (https://helm.sh/docs/topics/charts_hooks/). */
const otherTimes = new Set([
  "test",
  "test-success",
  "test-failure",
  "pre-delete",
  "post-delete",
  "pre-rollback",
  "post-rollback",
]);

/**
 * Sorts manifests by what they are to Wave. What names no namespace is in `namespace`; where that was `given`, nothing may name
 * another one, as for kubectl. Throws a UsageError for what does, and for an object that is there twice.
 */
export function desiredObjects(
  manifests: readonly Manifest[],
  kinds: readonly WorkloadRow[],
  { namespace, given }: { readonly namespace: string; readonly given: boolean },
): DesiredObjects {
  const wanted = {
    workloads: [] as DesiredObjects["workloads"][number][],
    configs: [] as DesiredObjects["configs"][number][],
    namespaces: [] as NamedManifest[],
  };
  const notes: string[] = [];
  const seen = new Map<string, string>();
  for (const manifest of manifests) {
    const { kind, apiVersion, name, place } = manifest;
    const row = kinds.find((each) => each.kind === kind && groupOf(each.apiVersion) === groupOf(apiVersion));
    const config = kindsOfConfig.find((each) => apiVersion === "v1" && each === kind);
    const isNamespace = apiVersion === "v1" && kind === "Namespace";
    if (row === undefined && config === undefined && !isNamespace) continue;
    const when = hooksOf(manifest);
    if (when.length > 0 && when.every((each) => otherTimes.has(each))) {
      notes.push(`${describeManifest(manifest)} is a hook of Helm's for ${when.join(", ")}: it is left out`);
      continue;
    }
    if (when.length > 0)
      notes.push(`${describeManifest(manifest)} is a hook of Helm's: it is applied at ${when.join(", ")}`);
    if (name === undefined) {
      notes.push(`${describeManifest(manifest)} (${place}) gets its name from the API server: nobody reads it yet`);
      continue;
    }
    if (given && !isNamespace && manifest.namespace !== undefined && manifest.namespace !== namespace)
      throw new UsageError(
        `${place}: ${describeManifest(manifest)} is in namespace "${manifest.namespace}", and --namespace says "${namespace}"`,
      );
    const where = isNamespace ? name : (manifest.namespace ?? namespace);
    const id = `${apiVersion}/${kind}/${where}/${name}`;
    const before = seen.get(id);
    if (before !== undefined)
      throw new UsageError(`${place}: ${describeManifest(manifest)} is there twice, first at ${before}`);
    seen.set(id, place);
    const named: NamedManifest = { ...(isNamespace ? manifest : inNamespace(manifest, where)), name, namespace: where };
    if (row !== undefined) wanted.workloads.push({ row, manifest: named });
    else if (config !== undefined) wanted.configs.push({ kind: config, manifest: named });
    else wanted.namespaces.push(named);
  }
  return { ...wanted, notes };
}

/** Whichever version of an API a manifest is written in, the object is the same. */
function groupOf(apiVersion: string): string {
  return apiVersion.replace(/\/.*$/, "");
}

const kindsOfConfig = Object.keys(configResources) as readonly StoredKind[];

function hooksOf({ annotations }: Manifest): readonly string[] {
  const written = annotations[hook];
  return written === undefined ? [] : written.split(",").map((each) => each.trim());
}
