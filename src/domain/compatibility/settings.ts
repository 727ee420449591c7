import type { ConfigKind, ReferenceOrigin } from "../references/references.ts";
import type { LabelSelector } from "../syntax/label-selector.ts";

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
