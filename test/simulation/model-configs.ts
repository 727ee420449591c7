import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

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

  /** Reports whether one of the changes of an object after a revision, up to another one, only removed keys. The API does not date these. */
  removesKeys(key: string, after: number, to: number): boolean {
    const versions = this.versions(key).slice(this.at(key, after), this.at(key, to) + 1);
    return versions.some(({ object }, index) => index > 0 && removesKeys(versions[index - 1]?.object, object));
  }
}

const none: Version = { rv: -1, object: undefined };
const onlyNone: readonly Version[] = [none];

/** Reports whether a change of an object only removed keys. */
function removesKeys(before: StoredObject | undefined, after: StoredObject | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const [had, has] = [before, after].map((each) => {
    const { data, binaryData } = each as { readonly data?: object; readonly binaryData?: object };
    return Object.entries({ ...data, ...binaryData }).map((entry) => entry.join("="));
  });
  return had !== undefined && has !== undefined && has.length < had.length && has.every((each) => had.includes(each));
}

/** Returns the last revision before a process first listed an object, which is given by kind, namespace and name. */
export function listedRv(
  { history, lives }: Pick<Recording, "history" | "lives">,
  process: string | undefined,
  object: string,
): number {
  const life = lives.find(({ replica }) => replica === process);
  const [kind = "", namespace = ""] = object.split("/");
  const plural = `${kind.toLowerCase()}s`;
  // A later list of one namespace may be a live read.
  const lists = [`${plural}/${namespace}`, `${plural}/`].flatMap((list) => life?.listedAt?.get(list) ?? []);
  const since = lists.length === 0 ? (life?.from ?? 0) : Math.min(...lists);
  return history.findLast(({ at }) => at < since)?.rv ?? 0;
}
