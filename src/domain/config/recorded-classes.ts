import type { Workload } from "../model/workload.ts";
import type { Reference } from "../references/references.ts";
import type { Config } from "./digest.ts";
import type { ViewEntry } from "./hash.ts";
import type { Lookup } from "./view.ts";

/** What the versions of all that a SecretProviderClass fetches are called, as one key of it. */
export const versionsKey = "versions";

/** What is known of a SecretProviderClass: one key, the digest of all its versions, since when, and whether by a rotation. */
export function classConfig(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { digest, since, rotated }: { readonly digest: string; readonly since: number; readonly rotated: boolean },
): Config {
  return {
    kind: "SecretProviderClass",
    namespace,
    name,
    sharedWith: undefined,
    keys,
    binaryFrom: keys.length,
    digests: digest,
    changedAt: since,
    ...(rotated && { rotated }),
  };
}

/** One list for all. */
const keys: readonly string[] = [versionsKey];

/** Finds each SecretProviderClass as the Pods of a workload are taken to have it, or as they would have it anew. */
export interface NotedClasses {
  readonly lookup: Lookup;
  /** Whether a SecretProviderClass is one that nothing was noted of yet. */
  readonly isUnnoted: (entry: Pick<ViewEntry, "kind" | "name">) => boolean;
  /** What is noted of SecretProviderClasses that are not among these references any more, as it entered the hash. */
  readonly dropped: (references: readonly Reference[]) => readonly ViewEntry[];
  /** What is to be noted with the hash of what these references show; undefined: nothing. */
  readonly toNote: (references: readonly Reference[]) => string | undefined;
}

/**
 * The versions of SecretProviderClasses that count for a workload. What is noted on the workload counts until a later
 * rotation is known. So nothing changes with the Pods that happen to be there, with what a new Pod fetched, or with a
 * watch that is behind. A class that is not noted counts as it is known now; one of which nothing is known counts as if
 * nobody read it.
 */
export function notedClasses({ namespace, notedClasses: written }: Workload, known: Lookup): NotedClasses {
  const noted = new Map(read(written).map((config) => [config.name, { ...config, namespace }]));
  const lookup: Lookup = (kind, of, name) => {
    const now = known(kind, of, name);
    if (kind !== "SecretProviderClass" || of !== namespace) return now;
    const before = noted.get(name);
    if (before === undefined || now === undefined) return now ?? before;
    const isLater = now.rotated === true && (now.changedAt ?? 0) >= (before.changedAt ?? 0);
    return isLater ? now : before;
  };
  return {
    lookup,
    isUnnoted: ({ kind, name }) => kind === "SecretProviderClass" && !noted.has(name),
    dropped: (references) => {
      const left = new Set(classesAmong(references).map(({ name }) => name));
      const gone = [...noted.values()].filter(({ name }) => !left.has(name));
      return gone.map(({ kind, name, digests: digest }) => ({ kind, namespace, name, key: versionsKey, digest }));
    },
    toNote: (references) => {
      const found = classesAmong(references).flatMap(({ kind, name }) => lookup(kind, namespace, name) ?? []);
      const texts = new Set(found.map(write));
      return texts.size === 0 ? undefined : [...texts].sort().join(",");
    },
  };
}

function classesAmong(references: readonly Reference[]): readonly Reference[] {
  return references.filter(({ kind }) => kind === "SecretProviderClass");
}

/** `name seconds digest`, by commas: no name has either in it. */
function write({ name, changedAt = 0, digests }: Config): string {
  return `${name} ${changedAt} ${Buffer.from(digests, "latin1").toString("hex")}`;
}

/** What is not as Wave writes it was written by somebody else, and is as if it were not there. */
function read(written = ""): readonly Config[] {
  return written.split(",").flatMap((text) => {
    const [, name = "", since, hex = ""] = /^(\S+) (\d{1,12}) ([0-9a-f]{64})$/.exec(text) ?? [];
    if (name === "") return [];
    const digest = Buffer.from(hex, "hex").toString("latin1");
    return [classConfig({ namespace: "", name }, { digest, since: Number(since), rotated: false })];
  });
}
