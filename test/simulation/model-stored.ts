import type { Recording, StoredObject } from "./record.ts";

/** Everything that was stored at one moment. */
export interface Stored {
  /** True virtual milliseconds. */
  readonly at: number;
  /** Objects by `plural/namespace/name`. */
  readonly objects: ReadonlyMap<string, StoredObject>;
  /** Returns a ConfigMap or Secret by `Kind/namespace/name`. */
  readonly find: (key: string) => StoredObject | undefined;
}

/** Yields what was stored at each moment at which everything had to be correct, in order. Each value is valid until the next is requested. */
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

/** Returns the Namespace of an object from everything that is stored. */
export function namespaceOf({ metadata }: StoredObject, objects: Stored["objects"]): StoredObject | undefined {
  return objects.get(`namespaces//${metadata.namespace}`);
}

/** Returns when an object was last written by its managed fields, in seconds since the epoch; 0 if it does not exist. */
export function writtenAt(object: StoredObject | undefined): number {
  const { managedFields = [] } = (object?.metadata ?? {}) as { readonly managedFields?: readonly { time: string }[] };
  return Math.max(0, ...managedFields.map(({ time }) => Date.parse(time) / 1_000));
}
