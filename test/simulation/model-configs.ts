import type { HistoryEntry, StoredObject } from "./record.ts";

/** One state of a ConfigMap or Secret. */
export interface Version {
  /** The revision that created it. */
  readonly rv: number;
  /** Undefined if the object does not exist. */
  readonly object: StoredObject | undefined;
}

const kinds: Readonly<Record<string, string>> = { configmaps: "ConfigMap", secrets: "Secret" };

/** Every state that every ConfigMap and Secret has had. */
export class ConfigTimeline {
  readonly #versions = new Map<string, Version[]>();

  constructor(history: readonly HistoryEntry[]) {
    for (const { resource, before, after, rv } of history) {
      const kind = kinds[resource];
      const object = after ?? before;
      if (kind === undefined || object === undefined) continue;
      const key = `${kind}/${object.metadata.namespace}/${object.metadata.name}`;
      let versions = this.#versions.get(key);
      if (versions === undefined) {
        versions = [none];
        this.#versions.set(key, versions);
      }
      versions.push({ rv, object: after });
    }
  }

  /** Returns the states of an object, oldest first; in the first state it does not exist. */
  versions(key: string): readonly Version[] {
    return this.#versions.get(key) ?? onlyNone;
  }

  /** Returns the number of the state that was stored at a revision. */
  at(key: string, rv: number): number {
    return this.versions(key).findLastIndex((version) => version.rv <= rv);
  }
}

const none: Version = { rv: -1, object: undefined };
const onlyNone: readonly Version[] = [none];
