import { type Config, sameConfig, toConfig } from "../../domain/config/digest.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { type NamespacePolicy, toNamespacePolicy } from "../../domain/policy/policy.ts";
import type { ConfigName, StoredKind } from "../../domain/references/references.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import { fewObjects, type ReadConfig, type UnreadConfig, unreadConfig } from "../cluster/read/configs.ts";
import { listAll, mapBounded } from "../cluster/requests.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import type { DesiredObject, DesiredObjects, NamedManifest } from "./desired-objects.ts";
import { applyManifest } from "./manifests/apply-manifest.ts";
import { type JsonMap, madeFrom } from "./manifests/manifest.ts";

/** A ConfigMap or Secret of the manifests, as digests, before and after. */
export interface OverlaidConfig extends ConfigName {
  readonly before: ReadConfig;
  readonly after: ReadConfig;
  /** Whether Wave would see a change; also true if that is unknown. */
  readonly changes: boolean;
}

/** A workload of the manifests. */
export interface OverlaidWorkload {
  readonly row: WorkloadRow;
  readonly manifest: NamedManifest;
  /** Undefined if the workload does not exist yet. */
  readonly before: WorkloadObject | undefined;
  readonly after: WorkloadObject;
}

/** The manifests merged with the objects of the cluster. */
export interface Overlay {
  readonly configs: readonly OverlaidConfig[];
  readonly workloads: readonly OverlaidWorkload[];
  /** The policies of the Namespaces among them, by name. */
  readonly namespaces: ReadonlyMap<string, NamespacePolicy>;
  /** Failed reads that may matter, one line each. */
  readonly gaps: readonly string[];
}

/**
 * Merges the manifests with the stored objects. Values become digests as soon as both sides are known. Throws a UsageError with the
 * location of a manifest that the API server would reject.
 */
export async function overlayManifests(
  client: ApiClient,
  wanted: DesiredObjects,
  { compatibility }: Pick<KnownPolicy, "compatibility">,
  now: number,
): Promise<Overlay> {
  const gaps: string[] = [];
  const namespaces = await mapStored(client, wanted.namespaces, ({ manifest }, stored) => {
    return [manifest.name, toNamespacePolicy(withManifest(stored, manifest, gaps), compatibility)] as const;
  });
  const configs = await mapStored(client, wanted.configs, ({ kind, manifest }, stored) =>
    overlaidConfig(kind, manifest, stored, compatibility, now),
  );
  const workloads = await mapStored(client, wanted.workloads, ({ resource, manifest }, stored): OverlaidWorkload => {
    return { row: resource, manifest, before: objectOf(stored), after: withManifest(stored, manifest, gaps) };
  });
  return { configs, workloads, namespaces: new Map(namespaces), gaps };
}

function withManifest(stored: LiveObject, manifest: NamedManifest, gaps: string[]): JsonMap {
  if (stored.state === "forbidden" || stored.state === "unreadable")
    gaps.push(`Cannot read ${manifest.kind} "${manifest.name}". The preview treats it as new. Cause: ${stored.error}.`);
  return applyManifest(objectOf(stored), manifest.object);
}

function overlaidConfig(
  kind: StoredKind,
  manifest: NamedManifest,
  stored: LiveObject,
  compatibility: KnownPolicy["compatibility"],
  now: number,
): OverlaidConfig {
  const { namespace, name } = manifest;
  const object = { kind, namespace, name };
  if (stored.state === "forbidden" || stored.state === "unreadable")
    return { ...object, before: stored, after: stored, changes: true };
  const live = objectOf(stored);
  const before = live && toConfig(kind, live, compatibility);
  const made = madeFrom(manifest, () => toConfig(kind, applyManifest(live, manifest.object), compatibility));
  const changes = before === undefined || !sameConfig(before, made);
  const after: Config = changes ? { ...made, changedAt: Math.floor(now / 1000) } : made;
  return {
    ...object,
    before: before ? { state: "present", config: before } : { state: "absent" },
    after: { state: "present", config: after },
    changes,
  };
}

function objectOf(stored: LiveObject): JsonMap | undefined {
  return stored.state === "present" ? stored.object : undefined;
}

/** The stored state of an object, with all its fields. */
type LiveObject = { readonly state: "present"; readonly object: JsonMap } | { readonly state: "absent" } | UnreadConfig;

/**
 * Reads the stored object of each item, calls `make` with both, and returns the results in the order of the items. The stored objects are
 * not kept. Many objects of one kind and namespace are read by a list, or one by one if listing is forbidden. An object that the API
 * server denies is passed to `make` as such. Throws if the API server does not answer, and what `make` throws.
 */
async function mapStored<W extends DesiredObject, R>(
  client: ApiClient,
  wanted: readonly W[],
  make: (one: W, stored: LiveObject) => R,
): Promise<readonly R[]> {
  const made = new Map<W, R>();
  const take = (one: W, stored: LiveObject) => void made.set(one, make(one, stored));
  const collectionOf = ({ resource, manifest: { namespace } }: W) => resourcePath(resource, { namespace });
  const groups = [...Map.groupBy(wanted, collectionOf).values()];
  const left = await mapBounded(groups, async (group) =>
    group.length > fewObjects && (await takeListed(client, group, take)) ? [] : group,
  );
  await mapBounded(left.flat(), async (one) => take(one, await readStored(client, one)));
  return wanted.map((one) => made.get(one) as R);
}

/** Calls `take` for objects of one kind and namespace, which it lists. Returns false if the API server denies the list. */
async function takeListed<W extends DesiredObject>(
  client: ApiClient,
  group: readonly W[],
  take: (one: W, stored: LiveObject) => void,
): Promise<boolean> {
  // Two items with one name have different API versions.
  const byName = Map.groupBy(group, ({ manifest }) => manifest.name);
  const [first] = group;
  if (first === undefined) return true;
  const { namespace } = first.manifest;
  try {
    const present = await listAll(client, first.resource, { namespace }, (object: KubeObject & JsonMap) => {
      const { name } = object.metadata;
      for (const one of byName.get(name) ?? []) take(one, { state: "present", object });
      return name;
    });
    const absent = new Set(byName.keys()).difference(new Set(present));
    for (const one of group) if (absent.has(one.manifest.name)) take(one, { state: "absent" });
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

async function readStored(client: ApiClient, { resource, manifest }: DesiredObject): Promise<LiveObject> {
  try {
    const found = await getIfExists<JsonMap>(client, { path: resourcePath(resource, manifest) });
    return found === undefined ? { state: "absent" } : { state: "present", object: found };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return unreadConfig(error);
  }
}
