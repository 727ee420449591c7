import { toConfig } from "../../domain/config/digest.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import { configKey } from "../../domain/references/references.ts";
import { formatList, quoted } from "../../domain/syntax/names.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type KnownPolicy, policyOfFlags } from "../cluster/running-wave/known-policy.ts";
import type { CommandCall } from "../command/help.ts";
import { wantedKinds } from "../flags/compatibility-flags.ts";
import type { FlagValues } from "../flags/parse-flags.ts";
import type { inheritedFlags } from "../flags/run-flags.ts";
import { type ClusterStates, readClusterStates } from "./cluster-states.ts";
import { type DesiredObject, type DesiredObjects, desiredObjects, type NamedManifest } from "./desired-objects.ts";
import { pairKey } from "./list-pairs.ts";
import { applyManifest, lastApplied } from "./manifests/apply-manifest.ts";
import { describeManifest, isMap, type JsonMap, type Manifest, madeFrom } from "./manifests/manifest.ts";
import { type OverlaidConfig, overlayManifests } from "./overlay.ts";
import { renderDifferences } from "./render-differences.ts";

/** Manifests, and the manifests of a base such as the target branch of a pull request. */
interface BaseRequest {
  readonly manifests: readonly Manifest[];
  readonly base: readonly Manifest[];
  /** The namespace of manifests without a namespace; undefined: "default". */
  readonly namespace: string | undefined;
  readonly output: string;
}

/**
 * Compares manifests with a base, without a cluster. An object that only the base has is removed. Objects of neither are assumed to stay
 * as they are, and running Pods to be current. Resolves with the exit code. Throws a UsageError for an invalid manifest.
 */
export async function diffBase(
  { values, terminal }: CommandCall<typeof inheritedFlags>,
  { manifests, base, namespace, output }: BaseRequest,
): Promise<number> {
  const kinds = [...builtInKinds, ...kindsIn([...manifests, ...base], values)];
  const flags = await policyOfFlags(values);
  const policy: KnownPolicy = { ...flags, keys: { state: "not requested", why: "no cluster" }, kinds };
  const place = { namespace: namespace ?? "default", given: namespace !== undefined };
  const wanted = desiredObjects(manifests, kinds, place);
  const { kept, removed } = splitBase(desiredObjects(base, kinds, place), wanted);
  const client = clientOf({ ...kept, configs: [...kept.configs, ...removed.configs] });
  const now = Date.now();
  const applied = await overlayManifests(client, wanted, policy, now);
  const overlay = { ...applied, configs: [...applied.configs, ...removedConfigs(removed, policy)] };
  const states = await readClusterStates(client, policy, overlay, "base");
  const gone = removed.workloads.map(({ manifest }) => `The manifests no longer have ${describeManifest(manifest)}.`);
  const notes = [...wanted.notes, ...gone, ...assumedNotes(states)];
  return renderDifferences(terminal, { output, states, notes, now });
}

/** Returns the rows of the requested kinds that manifests have, by the usual plural of their kind. */
function kindsIn(manifests: readonly Manifest[], values: FlagValues<typeof inheritedFlags>): readonly WorkloadRow[] {
  return (wantedKinds(values) ?? []).flatMap((wanted) => {
    const isWanted = ({ apiVersion, kind }: Manifest) =>
      apiVersion.startsWith(`${wanted.group}/`) && `${kind.toLowerCase()}s` === wanted.plural;
    const found = manifests.find(isWanted);
    return found === undefined ? [] : [requestedKindRow(wanted, found)];
  });
}

/** Returns a line about the objects that affected workloads read and neither side has. */
function assumedNotes({ pairs, affected, after }: ClusterStates): readonly string[] {
  const names = new Set<string>();
  for (const pair of pairs) {
    if (!affected.has(pairKey(pair))) continue;
    for (const reference of pair.after.workload.references)
      if (after.read.get(configKey(reference))?.state === "unreadable")
        names.add(`${reference.kind} ${quoted(reference.name)}`);
  }
  if (names.size === 0) return [];
  return [
    `The comparison assumes that objects outside of the manifests do not change: ${formatList([...names].sort(), 5, String)}.`,
  ];
}

/** Returns a client for a cluster that has exactly these objects, as `kubectl apply` stores them. The client sends nothing. */
function clientOf({ workloads, configs, namespaces }: DesiredObjects): ApiClient {
  const all: readonly DesiredObject[] = [...workloads, ...configs, ...namespaces];
  const stored = new Map(
    all.map(({ resource, manifest }) => [resourcePath(resource, manifest), storedObject(manifest)]),
  );
  return {
    request: async <T>({ path }: { readonly path: string }) => {
      const object = stored.get(path);
      if (object !== undefined) return object as T;
      throw new ApiError({ request: `get ${path}`, status: 404, reason: "NotFound", serverMessage: "" });
    },
    stream: async ({ path }) => {
      const items = [...stored].flatMap(([key, object]) => (isDirectlyBelow(path, key) ? [object] : []));
      const list = Buffer.from(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
      return {
        async *[Symbol.asyncIterator]() {
          yield list;
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
    close: async () => {},
  };
}

function isDirectlyBelow(path: string, key: string): boolean {
  return key.startsWith(`${path}/`) && !key.includes("/", path.length + 1);
}

/** Returns the object as it is stored after `kubectl apply`: the annotation has every field, so a later manifest removes what it lacks. */
function storedObject({ object }: NamedManifest): JsonMap {
  const stored = applyManifest(undefined, object);
  const metadata = isMap(stored.metadata) ? stored.metadata : {};
  const annotations = isMap(metadata.annotations) ? metadata.annotations : {};
  return {
    ...stored,
    metadata: { ...metadata, annotations: { ...annotations, [lastApplied]: JSON.stringify(stored) } },
  };
}

/** Splits the objects of a base by whether the manifests still have them. */
function splitBase(
  base: DesiredObjects,
  wanted: DesiredObjects,
): { readonly kept: DesiredObjects; readonly removed: DesiredObjects } {
  const keys = new Set([...wanted.workloads, ...wanted.configs].map(keyOf));
  const part = (isKept: boolean): DesiredObjects => ({
    workloads: base.workloads.filter((each) => keys.has(keyOf(each)) === isKept),
    configs: base.configs.filter((each) => keys.has(keyOf(each)) === isKept),
    namespaces: isKept ? base.namespaces : [],
    notes: [],
  });
  return { kept: part(true), removed: part(false) };
}

function keyOf({ manifest: { kind, namespace, name } }: DesiredObject): string {
  return `${kind}/${namespace}/${name}`;
}

/** Returns the ConfigMaps and Secrets of a base that the manifests no longer have. Throws a UsageError for a malformed object. */
function removedConfigs(
  { configs }: DesiredObjects,
  { compatibility }: Pick<KnownPolicy, "compatibility">,
): readonly OverlaidConfig[] {
  return configs.map(({ kind, manifest }) => {
    const { namespace, name, object } = manifest;
    const config = madeFrom(manifest, () => toConfig(kind, applyManifest(undefined, object), compatibility));
    return { kind, namespace, name, before: { state: "present", config }, after: { state: "absent" }, changes: true };
  });
}
