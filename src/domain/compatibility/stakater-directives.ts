import { updateOnConfigChange } from "../references/annotations.ts";
import { annotationOrigin, type ConfigKind, type Reference, wholeObject } from "../references/references.ts";
import { invalidAnnotationTexts } from "../references/warning.ts";
import { boundedMemo } from "../syntax/json.ts";
import { formatList, isDnsSubdomain, quoted, splitList } from "../syntax/names.ts";
import { parseDuration } from "../syntax/time.ts";
import {
  type Compatibility,
  type CompatibilitySettings,
  type CompatibilitySource,
  type NamesByKind,
  optIns,
  type PatternReference,
  type WorkloadDirective,
} from "./directive.ts";
import {
  isTrue,
  patternLimits as limits,
  type StakaterKind,
  stakaterAuto,
  stakaterNames,
  stakaterRows,
} from "./stakater.ts";

const { kinds, search, pausePeriod } = stakaterNames;

/** What the annotations for one kind of object request. */
interface KindRequest {
  readonly fromPodSpec: "all" | "marked" | "none";
  readonly named: readonly Reference[];
  readonly patterns: readonly PatternReference[];
  readonly mistakes: readonly string[];
}

/**
 * Returns what the annotations of Stakater Reloader request. The annotations of the workload take precedence for each kind of object. If they do not
 * mention a kind, those of the pod template apply
 * (https://github.com/stakater/Reloader/blob/master/pkg/common/common.go, ShouldReload).
 */
export function stakaterDirective(
  source: CompatibilitySource,
  { providerClasses = false }: { readonly providerClasses?: boolean | undefined },
  settings: CompatibilitySettings,
): WorkloadDirective {
  const lists = kinds.map(({ kind, exclude }) => [kind, splitList(source.annotations[exclude])]);
  const excluded: NamesByKind = Object.fromEntries(lists);
  const fromPodSpec: Record<ConfigKind, KindRequest["fromPodSpec"]> = {
    ConfigMap: "none",
    Secret: "none",
    SecretProviderClass: "none",
  };
  const requests: KindRequest[] = [];
  let patternCount = 0;
  for (const row of kinds) {
    if (row.kind === "SecretProviderClass" && !providerClasses) continue;
    const request = requestForKind(source, row, new Set(excluded[row.kind]), patternCount, settings);
    fromPodSpec[row.kind] = request.fromPodSpec;
    patternCount += request.patterns.length;
    requests.push(request);
  }
  const [named, patterns] = [requests.flatMap((each) => each.named), requests.flatMap((each) => each.patterns)];
  const pause = readPause(source.annotations[pausePeriod]);
  const optsIn =
    named.length > 0 || patterns.length > 0 || Object.values(fromPodSpec).some((tracked) => tracked !== "none");
  return {
    compatibility: "stakater",
    optIn: optsIn ? optIns.compatibility : optIns.out,
    fromPodSpec,
    named,
    patterns,
    excluded,
    minIntervalMs: pause.ms,
    mistakes: [...requests.flatMap((each) => each.mistakes), ...pause.mistakes, ...otherMistakes(source, excluded)],
  };
}

/** Returns messages about values that Stakater Reloader does not understand, and about annotations that have no effect on a workload. */
function otherMistakes(source: CompatibilitySource, excluded: NamesByKind): readonly string[] {
  const messages: string[] = [];
  for (const { name, on, values, accepts } of stakaterRows) {
    const invalid = [source.annotations, ...(on.includes("template") ? [source.templateAnnotations] : [])]
      .map((annotations) => annotations[name])
      .find((text) => text !== undefined && !(accepts?.(text) ?? true));
    const isMisplaced = !on.includes("workload") && source.annotations[name] !== undefined;
    if (isMisplaced) messages.push(invalidAnnotationTexts.onlyOnConfig(name));
    else if (invalid !== undefined) messages.push(invalidAnnotationTexts.ignoredValue(name, invalid, values));
  }
  for (const { kind, exclude } of kinds) {
    const invalid = excluded[kind].filter((name) => !isDnsSubdomain(name));
    if (invalid.length > 0)
      messages.push(invalidAnnotationTexts.invalidNames(exclude, kind, formatList(invalid, 2, quoted)));
  }
  return messages;
}

/** Reads the annotations for one kind of object. `patternCount` is the number of patterns for the kinds before it. */
function requestForKind(
  source: CompatibilitySource,
  row: StakaterKind,
  excluded: ReadonlySet<string>,
  patternCount: number,
  settings: CompatibilitySettings,
): KindRequest {
  const { annotations, metadata } = annotationsFor(source, row);
  const origin = annotationOrigin(row.reload, metadata);
  const named: Reference[] = [];
  const patterns: PatternReference[] = [];
  const invalid: string[] = [];
  let isOverLimit = false;
  for (const entry of splitList(annotations[row.reload])) {
    // A name with dots is a plain name, because its author does not mean any other character by a dot.
    if (isDnsSubdomain(entry)) {
      if (!excluded.has(entry)) named.push(wholeObject(row.kind, source.namespace, entry, origin));
    } else if (entry.length > limits.characters || patternCount + patterns.length >= limits.patterns) {
      isOverLimit = true;
    } else if (unusableReason(entry) !== undefined) {
      invalid.push(entry);
    } else {
      patterns.push({ kind: row.kind, source: entry, ...origin });
    }
  }
  const mistakes = [
    ...(isOverLimit ? [overLimitText(row.reload)] : []),
    ...(invalid.length > 0 ? [invalidPatternsText(row.reload, invalid)] : []),
  ];
  return { fromPodSpec: trackedFromPodSpec(annotations, row, settings), named, patterns, mistakes };
}

/** Returns the annotations that apply to one kind of object, and the path of the metadata that have them. */
function annotationsFor({ annotations, templateAnnotations }: CompatibilitySource, row: StakaterKind) {
  const mentionsKind = [row.reload, search, stakaterAuto, row.auto].some((name) => annotations[name] !== undefined);
  if (mentionsKind) return { annotations, metadata: "metadata" };
  return { annotations: templateAnnotations, metadata: "spec.template.metadata" };
}

function trackedFromPodSpec(
  annotations: Readonly<Record<string, string>>,
  row: StakaterKind,
  { autoReloadAll }: CompatibilitySettings,
): "all" | "marked" | "none" {
  const all = annotations[stakaterAuto] ?? "";
  const typed = annotations[row.auto] ?? "";
  if (isTrue(all) || isTrue(typed) || (all === "" && typed === "" && autoReloadAll)) return "all";
  // Wave does not read SecretProviderClasses, so it cannot know how their owner marked them.
  return annotations[search] === "true" && row.kind !== "SecretProviderClass" ? "marked" : "none";
}

/** Returns the annotation or flag that makes Wave track the objects of a kind that the pod spec references. */
function stakaterSourceOf(source: CompatibilitySource, kind: ConfigKind, settings: CompatibilitySettings): string {
  for (const row of kinds.filter((each) => each.kind === kind)) {
    const { annotations } = annotationsFor(source, row);
    const auto = [stakaterAuto, row.auto].find((name) => isTrue(annotations[name] ?? ""));
    if (auto !== undefined) return auto;
    if (trackedFromPodSpec(annotations, row, settings) === "marked") return search;
  }
  return "--auto-reload-all";
}

/** Returns why an expression is not supported or matches no name; undefined if it can match one. */
function unusableReason(entry: string): string | undefined {
  const pattern = readNamePattern(entry);
  return pattern.state === "invalid" ? pattern.reason : undefined;
}

/** Returns a message with the first few invalid expressions, each with the reason. */
function invalidPatternsText(annotation: string, invalid: readonly string[]): string {
  const which = formatList(invalid, 2, (entry) => `${quoted(entry)} (${unusableReason(entry)})`);
  return invalidAnnotationTexts.invalidPattern(annotation, which);
}

function overLimitText(annotation: string): string {
  return invalidAnnotationTexts.tooManyPatterns(annotation, String(limits.patterns), String(limits.characters));
}

/** Parses the pause period, in milliseconds. Accepts only positive durations, as Stakater Reloader does. */
function readPause(text: string | undefined): {
  readonly ms: number | undefined;
  readonly mistakes: readonly string[];
} {
  if (text === undefined || text === "") return { ms: undefined, mistakes: [] };
  const ms = parseDuration(text.trim());
  if (ms !== undefined && ms > 0) return { ms, mistakes: [] };
  return { ms: undefined, mistakes: [invalidAnnotationTexts.invalidPause(pausePeriod, text)] };
}

/** The annotation or flag that requests rollouts of a workload for a reference. */
export interface DirectiveSource {
  readonly compatibility: Compatibility;
  /** The name of the annotation, or the flag with two dashes. */
  readonly by: string;
}

/** Returns which annotations or flags request rollouts for a reference. `directives` are those of the workload. */
export function directiveSourcesOf(
  reference: Reference,
  source: CompatibilitySource,
  directives: readonly WorkloadDirective[],
  settings: CompatibilitySettings | undefined,
): readonly DirectiveSource[] {
  const optedIn = directives.filter(({ optIn }) => optIn.state === "in");
  const { kind, name, path, annotation } = reference;
  if (annotation !== undefined) {
    const isNamedBy = ({ named, patterns }: WorkloadDirective) =>
      [...named, ...patterns].some((one) => one.path === path);
    return optedIn.filter(isNamedBy).map(({ compatibility }) => ({ compatibility, by: annotation }));
  }
  return optedIn
    .filter(({ fromPodSpec, excluded }) => fromPodSpec[kind] !== "none" && !excluded[kind].includes(name))
    .map(({ compatibility }) => {
      const isStakater = compatibility === "stakater" && settings !== undefined;
      return { compatibility, by: isStakater ? stakaterSourceOf(source, kind, settings) : updateOnConfigChange };
    });
}

/** A regular expression that must match a whole name, or the reason why it is not supported. */
type NamePattern =
  | {
      readonly state: "read";
      readonly matches: (name: string) => boolean;
      /** The number of steps of the compiled expression. */
      readonly size: number;
    }
  | { readonly state: "invalid"; readonly reason: string };

/** Limit of the steps of one expression. The worst expression takes time in proportion to steps times characters of the name. */
const maxSteps = 256;

/** Limit of the characters of an expression with its counted repetitions written out, so that compiling takes about a millisecond. */
const maxExpanded = 1_000;

/** What the engine may store to match names faster, for each expression. An ordinary expression needs a tenth. */
const maxStoredBytes = 32_768;

let engine: typeof import("re2js") | undefined;

/** Loads the engine of expressions if Wave understands the annotations of Reloader. Await this before you read annotations. */
export async function loadNamePatterns(settings: Pick<CompatibilitySettings, "understood"> | undefined): Promise<void> {
  if (settings?.understood.includes("stakater")) engine ??= await import("re2js");
}

/**
 * Parses a regular expression over names of objects, in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax). Matching never
 * backtracks, and neither compiling nor matching can take much time or memory, whatever a tenant writes.
 */
export const readNamePattern = boundedMemo(256, (source: string): NamePattern => {
  if (engine === undefined) throw new Error("loadNamePatterns() was not awaited");
  const { RE2JS, RE2JSSyntaxException, RE2Set } = engine;
  const invalid = (reason: string): NamePattern => ({ state: "invalid", reason });
  // A class such as (?i)[a-\x{10FFFF}] takes 40 ms to compile.
  if (/[^\0-\x7F]|\\x\{/.test(source)) return invalid("only ASCII characters are supported");
  if (isText(source) && !isDnsSubdomain(source.replaceAll(".", "a"))) return invalid("no object can have such a name");
  if (expandedLength(source) > maxExpanded) return invalid("too large");
  try {
    const size = RE2JS.compile(source, RE2JS.DISABLE_UNICODE_GROUPS).programSize();
    if (size > maxSteps) return invalid("too large");
    // A set of one expression: only the memory of a set has a limit.
    const set = new RE2Set(RE2Set.ANCHOR_BOTH, RE2JS.DISABLE_UNICODE_GROUPS, maxStoredBytes);
    set.add(source);
    return { state: "read", size, matches: (name) => set.match(name).length > 0 };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return invalid(error.error);
  }
});

/** Reports whether an expression is plain text, except for dots. */
function isText(source: string): boolean {
  return !/[\\^$*+?()[\]{}|]/.test(source);
}

/** Returns the characters of an expression with its counted repetitions written out. Repeats the whole expression instead of a group. */
function expandedLength(source: string): number {
  let [length, times] = [source.length, 1];
  for (const [, before, least, most] of source.matchAll(/(^|.)\{(\d+),?(\d*)\}/gs)) {
    const count = Math.max(Number(least), Number(most), 1);
    if (before === ")") times *= count;
    else length += count;
  }
  return length * times;
}
