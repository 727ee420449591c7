import type { Recording, StoredObject } from "./record.ts";

/** Everything that was stored at one moment. */
export interface Stored {
  /** True virtual milliseconds. */
  readonly at: number;
  /** By `plural/namespace/name`. */
  readonly objects: ReadonlyMap<string, StoredObject>;
  /** A ConfigMap or Secret, by `Kind/namespace/name`. */
  readonly find: (key: string) => StoredObject | undefined;
}

/** What was stored at each moment at which everything had to be right, in order. Each is good until the next is asked for. */
export function* storedWhenRight({ history, rightAt }: Pick<Recording, "history" | "rightAt">): Iterable<Stored> {
  const objects = new Map<string, StoredObject>();
  const find = (key: string) => {
    const [kind, ...rest] = key.split("/");
    return objects.get([kind === "Secret" ? "secrets" : "configmaps", ...rest].join("/"));
  };
  let next = 0;
  for (const at of rightAt) {
    for (let entry = history[next]; entry !== undefined && entry.at <= at; entry = history[++next]) {
      const { resource, before, after } = entry;
      const { namespace = "", name = "" } = (after ?? before)?.metadata ?? {};
      if (after === undefined) objects.delete(`${resource}/${namespace}/${name}`);
      else objects.set(`${resource}/${namespace}/${name}`, after);
    }
    yield { at, objects, find };
  }
}

/** The Namespace of an object among everything that is stored. */
export function namespaceOf({ metadata }: StoredObject, objects: Stored["objects"]): StoredObject | undefined {
  return objects.get(`namespaces//${metadata.namespace}`);
}
