import type { HistoryEntry, StoredObject } from "./history.ts";

/** One state of a ConfigMap or Secret. */
export interface Version {
  /** The entry of history that made it. */
  readonly index: number;
  /** Undefined where the object does not exist. */
  readonly object: StoredObject | undefined;
}

const kinds: Readonly<Record<string, string>> = { configmaps: "ConfigMap", secrets: "Secret" };

/** Every state that every ConfigMap and Secret has had. */
export class ConfigTimeline {
  readonly #versions = new Map<string, Version[]>();

  constructor(history: readonly HistoryEntry[]) {
    history.forEach(({ resource, before, after }, index) => {
      const kind = kinds[resource];
      const object = after ?? before;
      if (kind === undefined || object === undefined) return;
      const key = `${kind}/${object.metadata.namespace}/${object.metadata.name}`;
      let versions = this.#versions.get(key);
      if (versions === undefined) {
        versions = [none];
        this.#versions.set(key, versions);
      }
      versions.push({ index, object: after });
    });
  }

  /** The states of an object, oldest first; the first is that it did not exist. */
  versions(key: string): readonly Version[] {
    return this.#versions.get(key) ?? onlyNone;
  }

  /** The number of the state that was stored just before entry `index` of history. */
  at(key: string, index: number): number {
    return this.versions(key).findLastIndex((version) => version.index < index);
  }
}

const none: Version = { index: -1, object: undefined };
const onlyNone: readonly Version[] = [none];
