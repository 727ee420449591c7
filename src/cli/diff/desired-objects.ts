import { configResources } from "../../cache/live/live-configs.ts";
import { standardForm, type WorkloadRow } from "../../domain/model/kind-row.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { StoredKind } from "../../domain/references/references.ts";
import { splitList } from "../../domain/syntax/names.ts";
import { type Resource, resources } from "../../kube/api/resources.ts";
import { UsageError } from "../flags/flag-types.ts";
import { describeManifest, inNamespace, type Manifest, madeFrom, manifestErrorTexts } from "./manifests/manifest.ts";

/** A manifest with a name and a definite namespace. The namespace of a Namespace is its own name. */
export interface NamedManifest extends Manifest {
  readonly name: string;
  readonly namespace: string;
}

/** A manifest with the API resource of its object. */
export interface DesiredObject<R extends Resource = Resource> {
  readonly resource: R;
  readonly manifest: NamedManifest;
}

/** The manifests that may make a workload roll, by type. */
export interface DesiredObjects {
  readonly workloads: readonly DesiredObject<WorkloadRow>[];
  readonly configs: readonly (DesiredObject & { readonly kind: StoredKind })[];
  readonly namespaces: readonly DesiredObject[];
  /** Remarks about the other manifests, one line each. */
  readonly notes: readonly string[];
}

const hook = "helm.sh/hook";
/** Hooks that neither install nor upgrade runs (https://helm.sh/docs/topics/charts_hooks/). */
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
 * Groups manifests by their type for Wave. A manifest without a namespace gets `namespace`. If a flag set that namespace (`given`), no
 * manifest may have another namespace, as in kubectl. Throws a UsageError for such a manifest, for a duplicate object, and for a pod
 * template with a field of another type than Wave reads.
 */
export function desiredObjects(
  manifests: readonly Manifest[],
  kinds: readonly WorkloadRow[],
  { namespace, given }: { readonly namespace: string; readonly given: boolean },
): DesiredObjects {
  const wanted = {
    workloads: [] as DesiredObjects["workloads"][number][],
    configs: [] as DesiredObjects["configs"][number][],
    namespaces: [] as DesiredObject[],
  };
  const notes: string[] = [];
  const seen = new Map<string, string>();
  for (const manifest of manifests) {
    const { kind, apiVersion, name, place } = manifest;
    const row = kinds.find((each) => each.kind === kind && groupOf(each.apiVersion) === groupOf(apiVersion));
    const config = kindsOfConfig.find((each) => apiVersion === "v1" && each === kind);
    const isNamespace = apiVersion === "v1" && kind === "Namespace";
    if (row === undefined && config === undefined && !isNamespace) continue;
    const when = splitList(manifest.annotations[hook]);
    if (when.length > 0 && when.every((each) => otherTimes.has(each))) {
      notes.push(`${describeManifest(manifest)} is left out. It is a Helm hook for ${when.join(", ")}.`);
      continue;
    }
    if (when.length > 0)
      notes.push(`${describeManifest(manifest)} is a Helm hook. Helm applies it at ${when.join(", ")}.`);
    if (name === undefined) {
      notes.push(
        `${describeManifest(manifest)} (${place}) is left out. The API server generates its name, so no workload reads it yet.`,
      );
      continue;
    }
    if (given && !isNamespace && manifest.namespace !== undefined && manifest.namespace !== namespace)
      throw new UsageError(
        manifestErrorTexts.otherNamespace(place, describeManifest(manifest), manifest.namespace, namespace),
      );
    const where = isNamespace ? name : (manifest.namespace ?? namespace);
    const id = `${apiVersion}/${kind}/${where}/${name}`;
    const before = seen.get(id);
    if (before !== undefined)
      throw new UsageError(manifestErrorTexts.duplicate(place, describeManifest(manifest), before));
    seen.set(id, place);
    const named: NamedManifest = { ...(isNamespace ? manifest : inNamespace(manifest, where)), name, namespace: where };
    if (row !== undefined) {
      // No API server has validated a manifest, not even one of a kind that Kubernetes defines.
      madeFrom(named, () => standardForm({ ...row, isValidated: false }, named.object as WorkloadObject));
      wanted.workloads.push({ resource: row, manifest: named });
    } else if (config !== undefined)
      wanted.configs.push({ resource: configResources[config], manifest: named, kind: config });
    else wanted.namespaces.push({ resource: resources.namespaces, manifest: named });
  }
  return { ...wanted, notes };
}

/** Returns the API group: an object is the same in all versions of its group. */
function groupOf(apiVersion: string): string {
  return apiVersion.replace(/\/.*$/, "");
}

const kindsOfConfig = Object.keys(configResources) as readonly StoredKind[];
