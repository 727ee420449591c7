import { isDnsSubdomain } from "../dns-name.ts";
import { parseDuration } from "../duration.ts";
import type { ConfigKind, Reference } from "../references.ts";
import type { Warning } from "../warning.ts";
import { enumerated, quoted } from "../wording.ts";
import {
  type Asked,
  type DialectRow,
  type DialectSettings,
  type DialectSource,
  entriesOf,
  optIns,
  type Pattern,
  wholeObject,
} from "./dialect.ts";
import { readNamePattern } from "./name-pattern.ts";

/** What every annotation of Stakater's Reloader ends with, before its slash. */
const domain = "reloader.stakater.com";

/** On a ConfigMap or Secret: "true" makes it count for workloads that search for such. */
export const stakaterMatch = "reloader.stakater.com/match";

/** On a ConfigMap or Secret: "true" makes it count for nobody. */
export const stakaterIgnore = "reloader.stakater.com/ignore";

/** On a workload or its pod template: whether it opts in. */
export const stakaterAuto = "reloader.stakater.com/auto";

const search = `${domain}/search`;
const pausePeriod = `deployment.${domain}/pause-period`;

interface KindRow {
  readonly kind: ConfigKind;
  readonly auto: string;
  readonly reload: string;
}

const kinds: readonly KindRow[] = [
  {
    kind: "ConfigMap",
    auto: `configmap.${domain}/auto`,
    reload: `configmap.${domain}/reload`,
  },
  {
    kind: "Secret",
    auto: `secret.${domain}/auto`,
    reload: `secret.${domain}/reload`,
  },
];

const excludeOf: Readonly<Record<ConfigKind, string>> = {
  ConfigMap: `configmaps.exclude.${domain}/reload`,
  Secret: `secrets.exclude.${domain}/reload`,
};

/** How many patterns one workload may have, and how many characters each. */
const most = { patterns: 100, characters: 256 };

/** The annotations of Stakater's Reloader that Wave reads. */
export const stakaterRows: readonly DialectRow[] = [
  {
    name: stakaterAuto,
    on: ["workload", "template"],
    values: '"true" or "false"',
    means: "it is rolled when a ConfigMap or Secret changes that its pod spec reads",
    unlike: "keys that no container sees do not count; nor do Secrets that only pull images",
  },
  ...kinds.map((row) => ({
    name: row.auto,
    on: ["workload", "template"] as const,
    values: '"true" or "false"',
    means: `the same of ${row.kind}s alone`,
  })),
  {
    name: search,
    on: ["workload", "template"],
    values: '"true"',
    means: `of what its pod spec reads those count that carry ${stakaterMatch}`,
  },
  ...kinds.map((row) => ({
    name: row.reload,
    on: ["workload", "template"] as const,
    values: "names or regular expressions, separated by commas",
    means: `it is rolled when one of these ${row.kind}s of its namespace changes, whatever its pod spec reads; one that does not exist is not waited for`,
    unlike: `an expression must match all of a name (there "a|b" also matches "ab"); at most ${most.patterns} of them, of ${most.characters} characters each`,
  })),
  ...kinds.map((row) => ({
    name: excludeOf[row.kind],
    on: ["workload"] as const,
    values: "names, separated by commas",
    means: `these ${row.kind}s do not count for what Stakater's annotations ask for`,
  })),
  {
    name: pausePeriod,
    on: ["workload"],
    values: 'a duration such as "5m"',
    means: "so much time lies between two rolls at least",
    unlike:
      "no Deployment is paused for it, and one that Reloader left paused is resumed; it counts for every kind of workload",
  },
  {
    name: stakaterMatch,
    on: ["config"],
    values: '"true"',
    means: `it counts for workloads with ${search}`,
  },
  {
    name: stakaterIgnore,
    on: ["config"],
    values: '"true"',
    means: "it never counts, for nobody",
    unlike: "so also for what Wave's own annotations ask for",
  },
];

/**
 * What the annotations of Stakater's Reloader ask for. Those of the workload count; of a kind of object of which they say
 * nothing, those of its pod template
 * (https://github.com/stakater/Reloader/blob/master/pkg/common/common.go, ShouldReload).
 */
export function askedByStakater(source: DialectSource, settings: DialectSettings): Asked {
  const mistakes: Warning[] = [];
  const named: Reference[] = [];
  const patterns: Pattern[] = [];
  const fromPodSpec: Record<ConfigKind, "all" | "marked" | "none"> = { ConfigMap: "none", Secret: "none" };
  const excluded = {
    ConfigMap: entriesOf(source.annotations[excludeOf.ConfigMap]),
    Secret: entriesOf(source.annotations[excludeOf.Secret]),
  };
  for (const row of kinds) {
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
    dialect: "stakater",
    optIn: asks ? optIns.in : optIns.out,
    fromPodSpec,
    named,
    patterns,
    excluded,
    minIntervalMs: readPause(source.annotations[pausePeriod], mistakes),
    mistakes,
  };
}

/** Whether the owner of a ConfigMap or Secret marked it by one of these annotations, where they are understood. */
export function isMarked(
  annotations: Readonly<Record<string, string>> | null | undefined,
  mark: typeof stakaterMatch | typeof stakaterIgnore,
  settings: DialectSettings | undefined,
): boolean {
  return settings?.understood.includes("stakater") === true && annotations?.[mark] === "true";
}

/** The annotations that count for one kind of object, and where they stand. */
function spokenFor({ annotations, templateAnnotations }: DialectSource, row: KindRow) {
  const speaks = [row.reload, search, stakaterAuto, row.auto].some((name) => annotations[name] !== undefined);
  if (speaks) return { annotations, place: "metadata" };
  return { annotations: templateAnnotations, place: "spec.template.metadata" };
}

function countedOf(
  annotations: Readonly<Record<string, string>>,
  row: KindRow,
  { autoReloadAll }: DialectSettings,
): "all" | "marked" | "none" {
  const all = annotations[stakaterAuto] ?? "";
  const typed = annotations[row.auto] ?? "";
  if (isTrue(all) || isTrue(typed) || (all === "" && typed === "" && autoReloadAll)) return "all";
  return annotations[search] === "true" ? "marked" : "none";
}

/** By which annotation, or which flag, the objects of a kind count that the pod spec refers to. */
export function stakaterSays(source: DialectSource, kind: ConfigKind, settings: DialectSettings): string {
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
