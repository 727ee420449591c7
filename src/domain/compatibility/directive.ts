// domain/compatibility: what annotations of Wave, SAP pod-reloader and Stakater Reloader request. Knows references, no policy or plan.
import { updateOnConfigChange, type WorkloadAnnotations, workloadFirst } from "../references/annotations.ts";
import {
  annotationOrigin,
  type ConfigKind,
  type Reference,
  type ReferenceOrigin,
  type StoredKind,
  wholeObject,
} from "../references/references.ts";
import { invalidAnnotationTexts } from "../references/warning.ts";
import type { LabelSelector } from "../syntax/label-selector.ts";
import { formatList, isDnsSubdomain, quoted, splitList } from "../syntax/names.ts";

/** One annotation of another controller. docs/annotations.md has these rows with their effect, and a test compares them. */
export interface CompatibilityRow {
  readonly name: string;
  /** Where the annotation applies: "template" is the pod template of a workload, "config" a ConfigMap or Secret. */
  readonly on: readonly ("workload" | "template" | "config")[];
  /** The allowed values, as text for people. */
  readonly values: string;
  /** Reports whether a value is allowed; undefined: its reader decides. */
  readonly accepts?: (text: string) => boolean;
}

/** Names of objects in the namespace of the workload, by kind. */
export type NamesByKind = Readonly<Record<ConfigKind, readonly string[]>>;

/** What the annotations of one compatibility request for a workload. */
export interface WorkloadDirective {
  readonly compatibility: Compatibility;
  readonly optIn: OptIn;
  /** Whether objects that the pod spec references are tracked, by kind. "marked": only objects that their owner marked. */
  readonly fromPodSpec: Readonly<Record<ConfigKind, "all" | "marked" | "none">>;
  /** Objects that annotations name, without the excluded objects. */
  readonly named: readonly Reference[];
  readonly patterns: readonly PatternReference[];
  /** Objects that this compatibility excludes. */
  readonly excluded: NamesByKind;
  /** Minimum time between two rollouts, in milliseconds. */
  readonly minIntervalMs: number | undefined;
  /** Messages about invalid annotations. */
  readonly mistakes: readonly string[];
}

/** Shared value for directives that exclude no object. */
export const noExclusions: NamesByKind = { ConfigMap: [], Secret: [], SecretProviderClass: [] };

/** The annotations of one workload that directives are read from. */
export interface CompatibilitySource extends WorkloadAnnotations {
  readonly namespace: string;
}

/** The few values that thousands of workloads share. */
export const optIns = {
  workload: { state: "in", by: "workload" },
  namespace: { state: "in", by: "namespace" },
  compatibility: { state: "in", by: "compatibility" },
  out: { state: "out" },
} as const satisfies Readonly<Record<string, OptIn>>;

/** Whether a workload has opted in, and by which means. */
export type OptIn =
  /** By the Wave annotation on the workload, its pod template or its Namespace, or only by annotations of other controllers. */
  | { readonly state: "in"; readonly by: "workload" | "namespace" | "compatibility" }
  /** `controlledBy` names the object that creates the workload. Wave then ignores the annotations of the workload. */
  | { readonly state: "out"; readonly controlledBy?: string }
  | { readonly state: "unclear"; readonly value: string };

/** Returns whether a Namespace opts its workloads in, by name; undefined if the Namespace is not known. */
export type NamespaceOptIn = ((namespace: string) => { readonly optsIn: boolean } | undefined) | undefined;

/** Limit of the characters of an unclear value that are kept. */
const maxKept = 300;

/**
 * Returns whether the Wave annotations opt a workload in. The annotation of the workload comes first, then that of its pod template, then its Namespace. Only
 * "true" opts in. Any value other than "true", "false" and "" is unclear, so that Wave can write a warning.
 */
export function readOptIn(source: WorkloadAnnotations, namespace: string, namespacePolicyOf: NamespaceOptIn): OptIn {
  const { value } = workloadFirst(source, updateOnConfigChange);
  switch (value) {
    case "true":
      return optIns.workload;
    case undefined:
      return namespacePolicyOf?.(namespace)?.optsIn ? optIns.namespace : optIns.out;
    case "false":
    case "":
      return optIns.out;
    default:
      return { state: "unclear", value: value.slice(0, maxKept) };
  }
}

/** A set of annotations that request rollouts: those of Wave, of SAP pod-reloader, or of Stakater Reloader. */
export type Compatibility = "wave" | "sap" | "stakater";

/** Every {@link Compatibility}. */
export const compatibilities: readonly Compatibility[] = ["wave", "sap", "stakater"];

/** The enabled compatibilities, with the values of the flags of the other controllers. */
export interface CompatibilitySettings {
  readonly understood: readonly Compatibility[];
  /** Whether a workload without Stakater annotations is treated as if it had `auto`. */
  readonly autoReloadAll: boolean;
  /** Whether the creation of an object that only Stakater annotations request is a change. */
  readonly reloadOnCreate: boolean;
  /** Whether the deletion of such an object is a change. */
  readonly reloadOnDelete: boolean;
  /** What is filtered out for every compatibility; undefined: nothing. */
  readonly filters?: Filters | undefined;
}

/** What the flags of Stakater Reloader filter out, for every compatibility. */
export interface Filters {
  /** Namespaces whose workloads Wave does not roll. */
  readonly ignoredNamespaces: readonly string[];
  /** Labels of the Namespaces whose workloads Wave rolls; undefined: all Namespaces. */
  readonly namespaces: LabelSelector | undefined;
  /** Labels of the ConfigMaps and Secrets that Wave tracks; undefined: all of them. */
  readonly configs: LabelSelector | undefined;
  /** Kinds whose objects Wave does not track. */
  readonly ignoredKinds: readonly ConfigKind[];
}

/** A regular expression that must match the whole name of an object, of one kind in the namespace of the workload. */
export interface PatternReference extends ReferenceOrigin {
  readonly kind: ConfigKind;
  /** The expression, in the syntax of RE2. */
  readonly source: string;
}

/** The known names that match each pattern of a workload, in the order of the patterns; or that matching would take too much work. */
export type MatchedNames = readonly Iterable<string>[] | "tooMuchWork";

/** A function that returns the known names in a namespace that match each pattern, as {@link MatchedNames}. */
export type NamesMatching = (namespace: string, patterns: readonly PatternReference[]) => MatchedNames;

/** The prefix of all SAP pod-reloader annotations. */
const prefix = "pod-reloader.cs.sap.com/";

/**
 * Annotation of a pod template: the hash of the objects that the two lists name. On the metadata of a workload: the hash that a client
 * expects now, as a precondition of its request.
 */
export const sapConfigHash = `${prefix}config-hash`;

/** The annotations that name objects, in the order that the hash uses. */
export const sapLists: readonly { readonly kind: StoredKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: `${prefix}configmaps` },
  { kind: "Secret", annotation: `${prefix}secrets` },
];

/** The SAP pod-reloader annotations that Wave reads. */
export const sapRows: readonly CompatibilityRow[] = [
  ...sapLists.map(({ annotation }) => ({
    name: annotation,
    on: ["workload"] as const,
    values: "names, separated by commas",
  })),
  { name: sapConfigHash, on: ["template"], values: "written by Wave" },
  { name: sapConfigHash, on: ["workload"], values: "a hash" },
];

/**
 * Returns what the annotations of SAP pod-reloader request: whole objects in the namespace of the workload, independent of its pod spec.
 * Wave does not wait for a missing object. As in SAP pod-reloader, a missing object is a state of its own.
 */
export function sapDirective({ namespace, annotations }: CompatibilitySource): WorkloadDirective {
  const named: Reference[] = [];
  const mistakes: string[] = [];
  for (const { kind, annotation } of sapLists) {
    const origin = annotationOrigin(annotation);
    const invalid: string[] = [];
    for (const name of splitList(annotations[annotation])) {
      if (!isDnsSubdomain(name)) invalid.push(name);
      else named.push(wholeObject(kind, namespace, name, origin));
    }
    if (invalid.length > 0)
      mistakes.push(invalidAnnotationTexts.invalidNames(annotation, kind, formatList(invalid, 2, quoted)));
  }
  return {
    compatibility: "sap",
    optIn: sapLists.some(({ annotation }) => annotations[annotation]) ? optIns.compatibility : optIns.out,
    fromPodSpec: { ConfigMap: "none", Secret: "none", SecretProviderClass: "none" },
    named,
    patterns: [],
    excluded: noExclusions,
    minIntervalMs: undefined,
    mistakes,
  };
}
