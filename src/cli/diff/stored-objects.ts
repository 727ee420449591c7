import type { KubeObject } from "../../kube/api/api-types.ts";
import { ApiError, isForbidden } from "../../kube/api/errors.ts";
import { type Resource, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { fewObjects } from "../cluster/read/configs.ts";
import { listAll } from "../cluster/requests/list-all.ts";
import { mapBounded } from "../cluster/requests/map-bounded.ts";
import type { JsonMap } from "./manifests/json.ts";

/** The stored state of an object, with all its fields. */
export type LiveObject =
  | { readonly state: "present"; readonly object: JsonMap }
  | { readonly state: "absent" }
  | { readonly state: "forbidden" | "unreadable"; readonly error: string };

/** The location of an object; `namespace` is ignored if the resource has none. */
interface StoredLocation {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Reads the stored object of each item, calls `make` with both, and returns the results in the order of the items. The stored objects are
 * not kept. Many objects of one kind and namespace are read by a list, or one by one if listing is forbidden. An object that the API
 * server denies is passed to `make` as such. Throws if the API server does not answer, and what `make` throws.
 */
export async function mapStored<W, R>(
  client: ApiClient,
  wanted: readonly W[],
  at: (one: W) => StoredLocation,
  make: (one: W, stored: LiveObject) => R,
): Promise<readonly R[]> {
  const groups = Map.groupBy(wanted, (one) => collectionOf(at(one)));
  const isMany = (group: readonly W[]) => group.length > fewObjects;
  const [lists, few] = [[...groups.values()].filter(isMany), [...groups.values()].filter((each) => !isMany(each))];
  const listed = await mapBounded(lists, (group) => mapListed(client, group, at, make));
  const refused = lists.filter((_, index) => listed[index] === undefined);
  const single = [...few, ...refused].flat();
  const got = await mapBounded(single, async (one) => [one, make(one, await readStored(client, at(one)))] as const);
  const order = new Map(wanted.map((one, index) => [one, index]));
  const made = [...listed.flatMap((each) => each ?? []), ...got];
  return made.toSorted(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).map(([, each]) => each);
}

function collectionOf({ resource, namespace }: StoredLocation): string {
  return resourcePath(resource, resource.namespaced ? { namespace } : {});
}

/** Does the same for objects of one kind and namespace by a list. Returns undefined if the API server denies the list. */
async function mapListed<W, R>(
  client: ApiClient,
  group: readonly W[],
  at: (one: W) => StoredLocation,
  make: (one: W, stored: LiveObject) => R,
): Promise<readonly (readonly [W, R])[] | undefined> {
  // Two items with one name have different API versions.
  const byName = Map.groupBy(group, (one) => at(one).name);
  const [first] = group;
  if (first === undefined) return [];
  const { resource, namespace } = at(first);
  const scope = resource.namespaced ? { namespace } : {};
  try {
    const present = await listAll<KubeObject & JsonMap, readonly (readonly [W, R])[]>(
      client,
      resource,
      scope,
      (object) => byName.get(object.metadata.name)?.map((one) => [one, make(one, { state: "present", object })]),
    );
    const made = new Map(present.flat());
    for (const one of group) if (!made.has(one)) made.set(one, make(one, { state: "absent" }));
    return [...made];
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function readStored(
  client: Pick<ApiClient, "request">,
  { resource, namespace, name }: StoredLocation,
): Promise<LiveObject> {
  const path = resourcePath(resource, resource.namespaced ? { namespace, name } : { name });
  try {
    const object = await getIfExists<JsonMap>(client, { path });
    return object === undefined ? { state: "absent" } : { state: "present", object };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { state: isForbidden(error) ? "forbidden" : "unreadable", error: errorText(error) };
  }
}
