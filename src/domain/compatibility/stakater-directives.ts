import type { ConfigKind, Reference } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { parseDuration } from "../syntax/duration.ts";
import { enumerated, quoted } from "../syntax/wording.ts";
import {
  type Asked,
  type CompatibilitySettings,
  type CompatibilitySource,
  entriesOf,
  optIns,
  type Pattern,
  wholeObject,
} from "./directive.ts";
import { readNamePattern } from "./name-pattern.ts";
import { type KindRow, mostPatterns as most, stakaterAuto, stakaterNames } from "./stakater.ts";

const { kinds, excludeOf, search, pausePeriod } = stakaterNames;

/**
 * What the annotations of Stakater's Reloader ask for. Those of the workload count; of a kind of object of which they say
 * nothing, those of its pod template
 * (https://github.com/stakater/Reloader/blob/master/pkg/common/common.go, ShouldReload).
 */
export function askedByStakater(
  source: CompatibilitySource,
  { providerClasses = false }: { readonly providerClasses?: boolean | undefined },
  settings: CompatibilitySettings,
): Asked {
  const mistakes: Warning[] = [];
  const named: Reference[] = [];
  const patterns: Pattern[] = [];
  const fromPodSpec: Record<ConfigKind, "all" | "marked" | "none"> = {
    ConfigMap: "none",
    Secret: "none",
    SecretProviderClass: "none",
  };
  const excluded = {
    ConfigMap: entriesOf(source.annotations[excludeOf.ConfigMap]),
    Secret: entriesOf(source.annotations[excludeOf.Secret]),
    SecretProviderClass: entriesOf(source.annotations[excludeOf.SecretProviderClass]),
  };
  for (const row of kinds) {
    if (row.kind === "SecretProviderClass" && !providerClasses) continue;
    const { annotations, place } = spokenFor(source, row);
    fromPodSpec[row.kind] = countedOf(annotations, row, settings);
    const path = `${place}.annotations[${row.reload}]`;
    const left = new Set(excluded[row.kind]);
    const refused: string[] = [];
    let tooMany = false;
    for (const entry of entriesOf(annotations[row.reload])) {
      if (isPlain(entry)) {
        if (!left.has(entry)) named.push(wholeObject(row.kind, source.namespace, entry, path));
      } else if (entry.length > most.characters || patterns.length >= most.patterns) {
        tooMany = true;
      } else if (readNamePattern(entry).state === "refused") {
        refused.push(entry);
      } else {
        patterns.push({ kind: row.kind, source: entry, path });
      }
    }
    if (tooMany) mistakes.push(tooMuch(row.reload));
    if (refused.length > 0) mistakes.push(notRead(row.reload, refused));
  }
  const asks =
    named.length > 0 || patterns.length > 0 || Object.values(fromPodSpec).some((counted) => counted !== "none");
  return {
    compatibility: "stakater",
    optIn: asks ? optIns.in : optIns.out,
    fromPodSpec,
    named,
    patterns,
    excluded,
    minIntervalMs: readPause(source.annotations[pausePeriod], mistakes),
    mistakes,
  };
}

/** The annotations that count for one kind of object, and where they stand. */
function spokenFor({ annotations, templateAnnotations }: CompatibilitySource, row: KindRow) {
  const speaks = [row.reload, search, stakaterAuto, row.auto].some((name) => annotations[name] !== undefined);
  if (speaks) return { annotations, place: "metadata" };
  return { annotations: templateAnnotations, place: "spec.template.metadata" };
}

function countedOf(
  annotations: Readonly<Record<string, string>>,
  row: KindRow,
  { autoReloadAll }: CompatibilitySettings,
): "all" | "marked" | "none" {
  const all = annotations[stakaterAuto] ?? "";
  const typed = annotations[row.auto] ?? "";
  if (isTrue(all) || isTrue(typed) || (all === "" && typed === "" && autoReloadAll)) return "all";
  // Of a SecretProviderClass nobody knows how its owner marked it: Wave does not read it.
  return annotations[search] === "true" && row.kind !== "SecretProviderClass" ? "marked" : "none";
}

/** By which annotation, or which flag, the objects of a kind count that the pod spec refers to. */
export function stakaterSays(source: CompatibilitySource, kind: ConfigKind, settings: CompatibilitySettings): string {
  for (const row of kinds.filter((each) => each.kind === kind)) {
    const { annotations } = spokenFor(source, row);
    const said = [stakaterAuto, row.auto].find((name) => isTrue(annotations[name] ?? ""));
    if (said !== undefined) return said;
    if (countedOf(annotations, row, settings) === "marked") return search;
  }
  return "--auto-reload-all";
}

/** As Go reads it (https://pkg.go.dev/strconv#ParseBool). */
function isTrue(text: string): boolean {
  return ["1", "t", "T", "TRUE", "true", "True"].includes(text);
}

/** Whether an entry is a plain name: a dot in it matches itself, and nobody who writes a name means anything else by it. */
function isPlain(entry: string): boolean {
  return isDnsSubdomain(entry);
}

/** The first few, each with the reason. */
function notRead(annotation: string, refused: readonly string[]): Warning {
  const which = enumerated(refused, 2, (entry) => {
    const pattern = readNamePattern(entry);
    return pattern.state === "refused" ? `${quoted(entry)} (${pattern.why})` : quoted(entry);
  });
  return {
    reason: "InvalidAnnotation",
    message: `annotation ${annotation} has what is no regular expression: ${which}`,
  };
}

function tooMuch(annotation: string): Warning {
  const message = `annotation ${annotation} has more than ${most.patterns} patterns, or one of more than ${most.characters} characters: those do not count`;
  return { reason: "InvalidAnnotation", message };
}

/** Only positive ones are taken, as there. */
function readPause(text: string | undefined, mistakes: Warning[]): number | undefined {
  if (text === undefined || text === "") return undefined;
  const ms = parseDuration(text.trim());
  if (ms !== undefined && ms > 0) return ms;
  const message = `annotation ${pausePeriod}: ${quoted(text)} is no duration; write one such as "5m"`;
  mistakes.push({ reason: "InvalidAnnotation", message });
  return undefined;
}
