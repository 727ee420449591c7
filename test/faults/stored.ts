import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import type { Api, HistoryEntry, StoredObject } from "../simulation/record.ts";

/** The part of a cluster that the world changes and the judge checks. */
const resources: readonly (readonly [plural: string, path: string, kind: string])[] = [
  ["namespaces", "/api/v1/namespaces", "Namespace"],
  ["configmaps", "/api/v1/configmaps", "ConfigMap"],
  ["secrets", "/api/v1/secrets", "Secret"],
  ["pods", "/api/v1/pods", "Pod"],
  ["deployments", "/apis/apps/v1/deployments", "Deployment"],
  ["statefulsets", "/apis/apps/v1/statefulsets", "StatefulSet"],
  ["daemonsets", "/apis/apps/v1/daemonsets", "DaemonSet"],
  ["replicasets", "/apis/apps/v1/replicasets", "ReplicaSet"],
];

/** The states of the objects of a cluster, from lists. */
export interface Stored {
  readonly history: readonly HistoryEntry[];
  /** Lists all objects and adds the changes since the last list. Rejects if the API server does not respond. */
  readonly look: () => Promise<void>;
}

/** Returns an empty state, before the first list. */
export function storedIn(cluster: Cluster, namespaces: readonly string[]): Stored {
  const history: HistoryEntry[] = [];
  const known = new Map<string, { readonly resource: string; readonly object: StoredObject }>();
  const look = async () => {
    const lists = await Promise.all(
      resources.map(async ([resource, path, kind]) =>
        (await cluster.list(path)).map((object) => ({ resource, object: storedAs(object, kind) })),
      ),
    );
    const now = new Map(
      lists
        .flat()
        .filter(({ object: { metadata } }) => namespaces.includes(metadata.namespace ?? metadata.name))
        .map((row) => [`${row.resource}/${row.object.metadata.namespace}/${row.object.metadata.name}`, row]),
    );
    for (const [key, { resource, object }] of known) {
      if (!now.has(key)) history.push(entry("DELETED", resource, { before: object }));
    }
    for (const [key, { resource, object }] of now) {
      const before = known.get(key)?.object;
      if (before?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
      history.push(entry(before ? "MODIFIED" : "ADDED", resource, { ...(before && { before }), after: object }));
    }
    known.clear();
    for (const [key, row] of now) known.set(key, row);
  };
  return { history, look };
}

/** Returns the administrator's client, without proxies. An unavailable API server is reported like a status. */
export function apiOf(cluster: Cluster): Api {
  return {
    request: async (method, path, { query = {}, body, contentType, manager = "kubectl" } = {}) => {
      const parameters = new URLSearchParams({ fieldManager: manager, ...query });
      const where = method === "GET" || method === "DELETE" ? path : `${path}?${parameters}`;
      try {
        return { status: 200, body: await cluster.api(method, where, body, contentType) };
      } catch (error) {
        return { status: Number(/: (\d{3}) /.exec(String(error))?.[1] ?? 0), body: undefined };
      }
    },
  };
}

/** Adds the kind to items, because items of a list have no kind. */
function storedAs(object: AnyObject, kind: string): StoredObject {
  const apiVersion = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"].includes(kind) ? "apps/v1" : "v1";
  return { apiVersion, ...object, kind } as StoredObject;
}

function entry(
  type: HistoryEntry["type"],
  resource: string,
  states: Pick<HistoryEntry, "before" | "after">,
): HistoryEntry {
  return { at: 0, rv: 0, type, resource, ...states, by: { actor: "cluster" } };
}
