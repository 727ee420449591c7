import { isDnsSubdomain } from "../dns-name.ts";
import { parseDuration } from "../duration.ts";
import type { ConfigKind, Reference } from "../references.ts";
import type { Warning } from "../warning.ts";
import { quoted } from "../wording.ts";
import type { Asked, DialectSettings, DialectSource, Pattern } from "./dialect.ts";

/** What every annotation of Stakater's Reloader ends with, before its slash. */
const domain = "reloader.stakater.com";

/** On a ConfigMap or Secret: "true" makes it count for workloads that search for such. */
export const stakaterMatch = `${domain}/match`;

/** On a ConfigMap or Secret: "true" makes it count for nobody. */
export const stakaterIgnore = `${domain}/ignore`;

const auto = `${domain}/auto`;
const search = `${domain}/search`;
const pausePeriod = `deployment.${domain}/pause-period`;

interface KindRow {
  readonly kind: ConfigKind;
  readonly auto: string;
  readonly reload: string;
  readonly exclude: string;
}

const kinds: readonly KindRow[] = [
  {
    kind: "ConfigMap",
    auto: `configmap.${domain}/auto`,
    reload: `configmap.${domain}/reload`,
    exclude: `configmaps.exclude.${domain}/reload`,
  },
  {
    kind: "Secret",
    auto: `secret.${domain}/auto`,
    reload: `secret.${domain}/reload`,
    exclude: `secrets.exclude.${domain}/reload`,
  },
];

/** How many patterns one workload may have, and how many characters each. */
const most = { patterns: 100, characters: 256 };

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
  for (const row of kinds) {
    const { annotations, place } = spokenFor(source, row);
    fromPodSpec[row.kind] = countedOf(annotations, row, settings);
    const path = `${place}.annotations[${row.reload}]`;
    for (const entry of entriesOf(annotations[row.reload])) {
      if (isPlain(entry)) {
        named.push(whole(row.kind, source.namespace, entry, path));
      } else if (entry.length > most.characters || patterns.length >= most.patterns) {
        mistakes.push(tooMuch(row.reload));
      } else {
        patterns.push({ kind: row.kind, source: entry, path });
      }
    }
  }
  const excluded = {
    ConfigMap: entriesOf(source.annotations[kinds[0]?.exclude ?? ""]),
    Secret: entriesOf(source.annotations[kinds[1]?.exclude ?? ""]),
  };
  const asks =
    named.length > 0 || patterns.length > 0 || Object.values(fromPodSpec).some((counted) => counted !== "none");
  return {
    dialect: "stakater",
    optIn: asks ? { state: "in", by: "workload" } : { state: "out" },
    fromPodSpec,
    named,
    patterns,
    excluded,
    minIntervalMs: readPause(source.annotations[pausePeriod], mistakes),
    mistakes,
  };
}

/** The annotations that count for one kind of object, and where they stand. */
function spokenFor({ annotations, templateAnnotations }: DialectSource, row: KindRow) {
  const speaks = [row.reload, search, auto, row.auto].some((name) => annotations[name] !== undefined);
  if (speaks) return { annotations, place: "metadata" };
  return { annotations: templateAnnotations, place: "spec.template.metadata" };
}

function countedOf(
  annotations: Readonly<Record<string, string>>,
  row: KindRow,
  { autoReloadAll }: DialectSettings,
): "all" | "marked" | "none" {
  const all = annotations[auto] ?? "";
  const typed = annotations[row.auto] ?? "";
  if (isTrue(all) || isTrue(typed) || (all === "" && typed === "" && autoReloadAll)) return "all";
  return annotations[search] === "true" ? "marked" : "none";
}

/** As Go reads it (https://pkg.go.dev/strconv#ParseBool). */
function isTrue(text: string): boolean {
  return ["1", "t", "T", "TRUE", "true", "True"].includes(text);
}

function entriesOf(list = ""): readonly string[] {
  const entries = list.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "");
}

/** Whether an entry is a plain name: a dot in it matches itself, and nobody who writes a name means anything else by it. */
function isPlain(entry: string): boolean {
  return isDnsSubdomain(entry);
}

function whole(kind: ConfigKind, namespace: string, name: string, path: string): Reference {
  return { kind, namespace, name, reads: "files", keys: "all", optional: true, path };
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
