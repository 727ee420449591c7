import type { Workload } from "../model/workload.ts";
import type { Reference } from "../references/references.ts";
import type { Config } from "./digest.ts";
import type { ViewEntry } from "./hash.ts";
import type { Lookup } from "./view-of-references.ts";

/** The key under which the versions of all fetched objects of a SecretProviderClass are hashed. */
export const versionsKey = "versions";

/** Returns a SecretProviderClass as a configuration object with one key: the digest of all its versions. */
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

/** One list that all SecretProviderClasses share, to save memory. */
const keys: readonly string[] = [versionsKey];

/** The versions of SecretProviderClasses that are tracked for a workload. */
export interface RecordedClasses {
  /** Finds a SecretProviderClass in its tracked version, and all other objects as they are known. */
  readonly lookup: Lookup;
  /** Reports whether an entry is of a SecretProviderClass without a recorded version. */
  readonly isUnrecorded: (entry: Pick<ViewEntry, "kind" | "name">) => boolean;
  /** Returns the recorded versions of SecretProviderClasses that are no longer in the references, as entries of the hash. */
  readonly dropped: (references: readonly Reference[]) => readonly ViewEntry[];
  /** Returns the text to record with the hash of these references; undefined if they contain no SecretProviderClass. */
  readonly toRecord: (references: readonly Reference[]) => string | undefined;
}

/**
 * Returns the versions of SecretProviderClasses that are tracked for a workload. The version that is recorded on the workload is
 * tracked until a later rotation is known. So the hash does not depend on which Pods exist, what a new Pod fetched, or how
 * stale a watch is. A class without a recorded version is tracked in its known version. A class without a known version is
 * not tracked.
 */
export function recordedClassesOf({ namespace, recordedClasses: written }: Workload, known: Lookup): RecordedClasses {
  const recorded = new Map(read(written).map((config) => [config.name, { ...config, namespace }]));
  const lookup: Lookup = (kind, of, name) => {
    const now = known(kind, of, name);
    if (kind !== "SecretProviderClass" || of !== namespace) return now;
    const before = recorded.get(name);
    if (before === undefined || now === undefined) return now ?? before;
    const isLater = now.rotated === true && (now.changedAt ?? 0) >= (before.changedAt ?? 0);
    return isLater ? now : before;
  };
  return {
    lookup,
    isUnrecorded: ({ kind, name }) => kind === "SecretProviderClass" && !recorded.has(name),
    dropped: (references) => {
      if (recorded.size === 0) return [];
      const left = new Set(classesAmong(references).map(({ name }) => name));
      const gone = [...recorded.values()].filter(({ name }) => !left.has(name));
      return gone.map(({ kind, name, digests: digest }) => ({ kind, namespace, name, key: versionsKey, digest }));
    },
    toRecord: (references) => {
      const found = classesAmong(references).flatMap(({ kind, name }) => lookup(kind, namespace, name) ?? []);
      if (found.length === 0) return undefined;
      const texts = new Set(found.map(write));
      return [...texts].sort().join(",");
    },
  };
}

function classesAmong(references: readonly Reference[]): readonly Reference[] {
  return references.filter(({ kind }) => kind === "SecretProviderClass");
}

/** Returns `name seconds digest`. Names contain no spaces and no commas. */
function write({ name, changedAt = 0, digests }: Config): string {
  return `${name} ${changedAt} ${Buffer.from(digests, "latin1").toString("hex")}`;
}

/** Parses a recorded text. Parts in another format were not written by Wave and are ignored. */
function read(written = ""): readonly Config[] {
  if (written === "") return [];
  return written.split(",").flatMap((text) => {
    const [, name = "", since, hex = ""] = /^(\S+) (\d{1,12}) ([0-9a-f]{64})$/.exec(text) ?? [];
    if (name === "") return [];
    const digest = Buffer.from(hex, "hex").toString("latin1");
    return [classConfig({ namespace: "", name }, { digest, since: Number(since), rotated: false })];
  });
}
