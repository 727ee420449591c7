import type { ConfigMap } from "#kubernetes";
import { type Config, toConfig } from "../../../domain/config/digest.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { formatConfigMaps, neverPinned } from "../../../domain/pinning/pin-request.ts";
import { copyContent, type Pins, referencesTo } from "../../../domain/pinning/pinned-lookup.ts";
import { quoted } from "../../../domain/syntax/names.ts";
import { hasSameKeys, keyChanges, withKeys } from "../../cluster/timeline/revisions.ts";

/** A ConfigMap as it was read, or why it could not be read. */
export type ReadConfigMap =
  | { readonly state: "present"; readonly object: ConfigMap }
  | { readonly state: "absent" }
  | { readonly state: "unread"; readonly why: string };

/** A key that differs between a revision and the current configuration. */
export interface KeyDifference {
  /** The name of the ConfigMap. */
  readonly configMap: string;
  readonly key: string;
  readonly how: "added" | "removed" | "changed";
  /** The values, only if they are requested; null without the key. Values of `binaryData` are in base64. */
  readonly before?: string | null;
  readonly after?: string | null;
}

/** What differs between the copies of a revision and the current configuration. */
export interface RevisionDifference {
  readonly differences: readonly KeyDifference[];
  /** What was not compared on purpose, and what else matters, one line each. */
  readonly notes: readonly string[];
  /** What could not be compared, one line each. */
  readonly gaps: readonly string[];
}

/** The input of {@link revisionDifference}. */
interface ComparedRevision {
  /** The workload with its current references. */
  readonly workload: Workload;
  readonly revision: number;
  readonly pins: Pins;
  /** The pins of the current pod template; undefined if it has none. */
  readonly currentPins: Pins | undefined;
  /** The ConfigMaps of the namespace that were read, by name. */
  readonly read: ReadonlyMap<string, ReadConfigMap>;
  readonly withValues: boolean;
}

/** Compares each copy of a revision with what the workload reads of the ConfigMap now. */
export function revisionDifference(compared: ComparedRevision): RevisionDifference {
  const { workload, pins } = compared;
  const results = [...pins]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, copy]) => compare(name, copy, compared));
  return {
    differences: results.flatMap((result) => (typeof result === "string" ? [] : result)),
    notes: [...notComparedNotes(workload, pins, compared.revision), ...keptCopies(compared)],
    gaps: results.filter((result) => typeof result === "string"),
  };
}

/** Returns the keys that differ between a ConfigMap and its copy, or why they cannot be compared. */
function compare(
  name: string,
  copy: string,
  { workload, read, withValues }: ComparedRevision,
): readonly KeyDifference[] | string {
  const [before, after] = [read.get(copy), read.get(name)];
  if (before?.state !== "present")
    return revisionTexts.noCopy(name, copy, before?.state === "unread" ? before.why : undefined);
  if (after === undefined || after.state === "unread") return revisionTexts.unread(name, after?.why ?? "");
  // A ConfigMap that does not exist has no keys.
  const live = after.state === "present" ? after.object : { metadata: { ...before.object.metadata, name } };
  const config = toConfig("ConfigMap", live);
  if (config.limitExceeded !== undefined) return revisionTexts.unread(name, "it has too many keys");
  const now = readNow(workload, name, config);
  const { added, removed, changed } = keyChanges(toConfig("ConfigMap", before.object), now);
  const row = (how: KeyDifference["how"]) => (key: string) => ({
    configMap: name,
    key,
    how,
    ...(withValues && { before: textOf(before.object, key), after: how === "removed" ? null : textOf(live, key) }),
  });
  return [...changed.map(row("changed")), ...added.map(row("added")), ...removed.map(row("removed"))];
}

/** Returns a ConfigMap with the keys that the workload reads now. */
function readNow(workload: Workload, name: string, live: Config): Config {
  const { data, binaryData } = copyContent(referencesTo(workload, name), live);
  return withKeys(live, new Set([...data, ...binaryData]));
}

function textOf({ data, binaryData }: ConfigMap, key: string): string | null {
  return data?.[key] ?? binaryData?.[key] ?? null;
}

function notComparedNotes({ references, namespace }: Workload, pins: Pins, revision: number): readonly string[] {
  const ofPodSpec = references.filter(
    (each) => each.kind === "ConfigMap" && each.namespace === namespace && each.annotation === undefined,
  );
  const others = ofPodSpec.filter(({ name }) => !pins.has(name) && !neverPinned.includes(name));
  const names = [...new Set(others.map(({ name }) => name))].sort();
  return [
    ...(names.length === 0 ? [] : [revisionTexts.notPinned(names, revision)]),
    ...(references.some(({ kind }) => kind === "Secret") ? [revisionTexts.secrets] : []),
  ];
}

/** Returns a note about ConfigMaps whose current content new Pods do not read: a change is held or was rolled back. */
function keptCopies({ workload, currentPins, read }: ComparedRevision): readonly string[] {
  const kept = [...(currentPins ?? [])].filter(([name, copy]) => {
    const [stored, live] = [read.get(copy), read.get(name)];
    if (stored?.state !== "present" || live?.state !== "present") return false;
    const now = readNow(workload, name, toConfig("ConfigMap", live.object));
    return !hasSameKeys(keyChanges(toConfig("ConfigMap", stored.object), now));
  });
  return kept.length === 0 ? [] : [revisionTexts.kept(kept.map(([name]) => name))];
}

/** The lines about a comparison, for people. */
const revisionTexts = {
  secrets: "Secrets are never pinned, so they are not compared.",
  notPinned: (names: readonly string[], revision: number) =>
    `${formatConfigMaps(names)} ${names.length === 1 ? "is" : "are"} not pinned in revision ${revision}, so not compared.`,
  kept: (names: readonly string[]) =>
    `New Pods read pinned copies of ${formatConfigMaps(names)}, not the current configuration: a change is due, held or rolled back.`,
  noCopy: (name: string, copy: string, why: string | undefined) =>
    `ConfigMap ${quoted(name)} is not compared: ${why ?? `its copy ${quoted(copy)} no longer exists`}.`,
  unread: (name: string, why: string) => `ConfigMap ${quoted(name)} is not compared: ${why}.`,
} as const;
