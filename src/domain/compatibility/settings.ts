import type { ConfigKind } from "../references/references.ts";
import type { LabelSelector } from "../syntax/label-selector.ts";

/** A set of annotations by which people ask for rolls: Wave's own, SAP pod-reloader's, Stakater Reloader's. */
export type Compatibility = "wave" | "sap" | "stakater";

/** Every {@link Dialect}. */
export const compatibility: readonly Compatibility[] = ["wave", "sap", "stakater"];

/** Which dialects are understood, and what their own flags say. */
export interface CompatibilitySettings {
  readonly understood: readonly Compatibility[];
  /** Whether a workload that says nothing in Stakater's dialect is taken to have said `auto`. */
  readonly autoReloadAll: boolean;
  /** Whether the mere appearance of an object that only Stakater's annotations ask for is a change. */
  readonly reloadOnCreate: boolean;
  /** The same of its disappearance. */
  readonly reloadOnDelete: boolean;
  /** What is left out whoever asks for it; undefined: nothing. */
  readonly filters?: Filters | undefined;
}

/** What Reloader's flags leave out of everything, whoever asks for it and in whichever dialect. */
export interface Filters {
  /** No workload in these is rolled. */
  readonly ignoredNamespaces: readonly string[];
  /** Of other Namespaces no workload is rolled; undefined: of none that. */
  readonly namespaces: LabelSelector | undefined;
  /** Other ConfigMaps and Secrets do not count; undefined: all do. */
  readonly configs: LabelSelector | undefined;
  /** No objects of these kinds count. */
  readonly ignoredKinds: readonly ConfigKind[];
}

/** Names of objects of one kind in the workload's own namespace, by a regular expression that must match all of a name. */
export interface Pattern {
  readonly kind: ConfigKind;
  /** As it is written, in the syntax of RE2. */
  readonly source: string;
  /** Where it is written. */
  readonly path: string;
}

/**
 * The names in a namespace that match each of some patterns, in the order of the patterns, as far as names are known.
 * Undefined where finding out would cost too much.
 */
export type NamesMatching = (
  namespace: string,
  patterns: readonly Pattern[],
) => readonly Iterable<string>[] | undefined;
