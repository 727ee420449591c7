import type { KubeObject } from "../../kube/api/api-types.ts";
import { ApiError, isForbidden, isNotFound } from "../../kube/api/errors.ts";
import { type Resource, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { mapBounded } from "../cluster/map-bounded.ts";
import { listAll } from "../cluster/list-all.ts";
import { fewObjects } from "../cluster/read-configs.ts";
import type { JsonMap } from "./manifests/json.ts";

/** An object as it is stored, all of it. */
export type LiveObject =
  | { readonly state: "present"; readonly object: JsonMap }
  | { readonly state: "absent" }
  | { readonly state: "forbidden" | "unreadable"; readonly error: string };

/** An object that is asked for; `namespace` counts where the resource has one. */
export interface StoredLocation {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Calls `make` with each wanted object and what is stored of it, and resolves with its answers in the same order.
 * Nothing else of what is stored is kept. Many objects of a kind in one namespace are read by a list; where that is
 * forbidden, one by one. What the API server refuses is handed to `make`. Throws where the API server does not answer,
 * and what `make` throws.
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
  const listed = await mapBounded(lists, (group) => overListed(client, group, at, make));
  const refused = lists.filter((_, index) => listed[index] === undefined);
  const asked = [...few, ...refused].flat();
  const got = await mapBounded(asked, async (one) => [one, make(one, await readStored(client, at(one)))] as const);
  const places = new Map(wanted.map((one, index) => [one, index]));
  const made = [...listed.flatMap((each) => each ?? []), ...got];
  return made.toSorted(([a], [b]) => (places.get(a) ?? 0) - (places.get(b) ?? 0)).map(([, each]) => each);
}

function collectionOf({ resource, namespace }: StoredLocation): string {
  return resourcePath(resource, resource.namespaced ? { namespace } : {});
}

/** The same for objects of one kind and namespace, by a list; undefined where the API server refuses that. */
async function overListed<W, R>(
  client: ApiClient,
  group: readonly W[],
  at: (one: W) => StoredLocation,
  make: (one: W, stored: LiveObject) => R,
): Promise<readonly (readonly [W, R])[] | undefined> {
  // Two of a name are of two versions of their API.
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
    return { state: "present", object: await client.request<JsonMap>({ method: "GET", path }) };
  } catch (error) {
    if (isNotFound(error)) return { state: "absent" };
    if (!(error instanceof ApiError)) throw error;
    return { state: isForbidden(error) ? "forbidden" : "unreadable", error: errorText(error) };
  }
}
