import { type Config, digestOf, keysOf } from "../../../domain/config/digest.ts";

/** The keys of a ConfigMap that differ between two states, sorted. */
export interface KeyChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Returns the keys that differ. A key that moved between `data` and `binaryData` is changed. */
export function keyChanges(before: Config, after: Config): KeyChanges {
  const [old, current] = [contentOf(before), contentOf(after)];
  const keysWhere = (keys: Iterable<string>, wanted: (key: string) => boolean) => [...keys].filter(wanted).sort();
  return {
    added: keysWhere(current.keys(), (key) => !old.has(key)),
    removed: keysWhere(old.keys(), (key) => !current.has(key)),
    changed: keysWhere(old.keys(), (key) => current.has(key) && current.get(key) !== old.get(key)),
  };
}

/** Reports whether two states have the same keys and values. */
export function hasSameKeys({ added, removed, changed }: KeyChanges): boolean {
  return added.length + removed.length + changed.length === 0;
}

/** Returns an object with only some of its keys. */
export function withKeys(config: Config, wanted: ReadonlySet<string>): Config {
  const keys = keysOf(config).filter((key) => wanted.has(key));
  const inData = keysOf(config, "data").filter((key) => wanted.has(key));
  return {
    ...config,
    keys,
    binaryFrom: inData.length,
    digests: keys.map((key) => digestOf(config, key) ?? "").join(""),
  };
}

/** Returns a text for each key that is equal if and only if its field and its value are equal. */
function contentOf(config: Config): ReadonlyMap<string, string> {
  return new Map(
    keysOf(config).map((key) => {
      const inData = digestOf(config, key, "data");
      return [key, inData === undefined ? `binary ${digestOf(config, key)}` : `text ${inData}`];
    }),
  );
}
