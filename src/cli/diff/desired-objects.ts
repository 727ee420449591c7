import { configResources } from "../../cache/live/live-configs.ts";
import { readTemplateSource, type StoredTemplateSource, withTemplateOf } from "../../cache/workloads/workload-reads.ts";
import { isTemplateSource } from "../../domain/config/tracked-view.ts";
import { standardForm, type WorkloadRow } from "../../domain/model/kind-row.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { StoredKind } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { UsageError } from "../flags/flag-types.ts";
import { describeManifest, inNamespace, type Manifest, madeFrom, manifestErrorTexts } from "./manifests/manifest.ts";

/** A manifest with a name and a definite namespace. The namespace of a Namespace is its own name. */
export interface NamedManifest extends Manifest {
  readonly name: string;
  readonly namespace: string;
}

/** The manifests that may make a workload roll, by type. */
export interface DesiredObjects {
  readonly workloads: readonly { readonly row: WorkloadRow; readonly manifest: NamedManifest }[];
  readonly configs: readonly { readonly kind: StoredKind; readonly manifest: NamedManifest }[];
  readonly namespaces: readonly NamedManifest[];
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
      wanted.workloads.push({ row, manifest: named });
    } else if (config !== undefined) wanted.configs.push({ kind: config, manifest: named });
    else wanted.namespaces.push(named);
  }
  return { ...wanted, notes };
}

/** Returns the API group: an object is the same in all versions of its group. */
function groupOf(apiVersion: string): string {
  return apiVersion.replace(/\/.*$/, "");
}

const kindsOfConfig = Object.keys(configResources) as readonly StoredKind[];

function hooksOf({ annotations }: Manifest): readonly string[] {
  const written = annotations[hook];
  return written === undefined ? [] : written.split(",").map((each) => each.trim());
}

/** A Deployment of the manifests that may be a template source, before and after. */
interface OverlaidTemplateSource {
  /** Undefined if the Deployment does not exist yet. */
  readonly before: StoredTemplateSource | undefined;
  readonly after: StoredTemplateSource;
}

/** The Deployments of the manifests, by {@link templateSourceKey}. */
export type OverlaidTemplateSources = ReadonlyMap<string, OverlaidTemplateSource>;

/** Returns the key of a Deployment in {@link OverlaidTemplateSources}. */
export function templateSourceKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** A workload before, which may be absent, and after. */
export interface Sides<B extends WorkloadObject | undefined> {
  readonly before: B;
  readonly after: WorkloadObject;
}

/**
 * Returns a workload before and after, each with the pod template of its template source. A Deployment is read once; a Deployment of the
 * manifests is not read, because the overlay has it. Throws what {@link ApiClient.request} throws, except 404.
 */
export async function withSourceTemplates<B extends WorkloadObject | undefined>(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  { before, after }: Sides<B>,
  templateSources: OverlaidTemplateSources,
): Promise<Sides<B>> {
  if (row.workloadRef === undefined) return { before, after };
  const keyBefore = before && keyOf(row, before);
  const keyAfter = keyOf(row, after);
  const overlaidBefore = keyBefore && templateSources.get(keyBefore);
  const templateSourceBefore = overlaidBefore
    ? overlaidBefore.before
    : before && (await readTemplateSource(client, row, before));
  const overlaidAfter = keyAfter && templateSources.get(keyAfter)?.after;
  const isSame = keyBefore !== undefined && keyBefore === keyAfter;
  const templateSourceAfter =
    overlaidAfter || (isSame ? templateSourceBefore : await readTemplateSource(client, row, after));
  const whole = before && withTemplateOf(row, before, templateSourceBefore);
  const isUnchanged = whole !== undefined && before === after && templateSourceBefore === templateSourceAfter;
  return { before: whole, after: isUnchanged ? whole : withTemplateOf(row, after, templateSourceAfter) };
}

/** Returns undefined if the workload has no template source, or an invalid one. */
function keyOf({ workloadRef }: WorkloadRow, object: WorkloadObject): string | undefined {
  const templateSource = workloadRef?.templateSourceOf(object);
  const namespace = object.metadata?.namespace;
  return templateSource && namespace !== undefined && isTemplateSource(templateSource)
    ? templateSourceKey(namespace, templateSource.name)
    : undefined;
}
