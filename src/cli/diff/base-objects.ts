import { configResources } from "../../cache/live/live-configs.ts";
import { toConfig } from "../../domain/config/digest.ts";
import { configKey } from "../../domain/references/references.ts";
import { ApiError } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import { UsageError } from "../flags/usage-error.ts";
import type { DesiredObjects, NamedManifest } from "./desired-objects.ts";
import { applyManifest } from "./manifests/apply-manifest.ts";
import { isMap, type JsonMap } from "./manifests/json.ts";
import { lastApplied } from "./manifests/last-applied.ts";
import type { OverlaidConfig } from "./overlay.ts";

/** Returns a client for a cluster that has exactly these objects, as `kubectl apply` stores them. The client sends nothing. */
export function clientOf({ workloads, configs, namespaces }: DesiredObjects): ApiClient {
  const stored = new Map<string, JsonMap>([
    ...workloads.map(({ row, manifest }) => [resourcePath(row, manifest), storedObject(manifest)] as const),
    ...configs.map(
      ({ kind, manifest }) => [resourcePath(configResources[kind], manifest), storedObject(manifest)] as const,
    ),
    ...namespaces.map(
      (manifest) => [resourcePath(resources.namespaces, { name: manifest.name }), storedObject(manifest)] as const,
    ),
  ]);
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
export function splitBase(
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

function keyOf({ manifest: { kind, namespace, name } }: { readonly manifest: NamedManifest }): string {
  return `${kind}/${namespace}/${name}`;
}

/** Returns the ConfigMaps and Secrets of a base that the manifests no longer have. Throws a UsageError for a malformed object. */
export function removedConfigs(
  { configs }: DesiredObjects,
  { compatibility }: Pick<KnownPolicy, "compatibility">,
): readonly OverlaidConfig[] {
  return configs.map(({ kind, manifest }) => {
    const { namespace, name, place } = manifest;
    try {
      const config = toConfig(kind, applyManifest(undefined, manifest.object), compatibility);
      const object = { kind, namespace, name };
      const before = { state: "present", config } as const;
      return { ...object, key: configKey(object), before, after: { state: "absent" }, changes: true };
    } catch (error) {
      throw new UsageError(`${place}: ${errorText(error)}`);
    }
  });
}
