import type { OptIn } from "../opt-in.ts";
import type { ConfigKind, Reference } from "../references.ts";
import type { Warning } from "../warning.ts";

/** A set of annotations by which people ask for rolls: Wave's own, SAP pod-reloader's, Stakater Reloader's. */
export type Dialect = "wave" | "sap" | "stakater";

/** Every {@link Dialect}. */
export const dialects: readonly Dialect[] = ["wave", "sap", "stakater"];

/** Which dialects are understood, and what their own flags say. */
export interface DialectSettings {
  readonly understood: readonly Dialect[];
  /** Whether a workload that says nothing in Stakater's dialect is taken to have said `auto`. */
  readonly autoReloadAll: boolean;
  /** Whether the mere appearance of an object that only Stakater's annotations ask for is a change. */
  readonly reloadOnCreate: boolean;
  /** The same of its disappearance. */
  readonly reloadOnDelete: boolean;
}

/** Names of objects of one kind in the workload's own namespace, by a regular expression that must match all of a name. */
export interface Pattern {
  readonly kind: ConfigKind;
  /** As it is written, in the syntax of RE2. */
  readonly source: string;
  /** Where it is written. */
  readonly path: string;
}

/** What the annotations of one dialect ask for. */
export interface Asked {
  readonly dialect: Dialect;
  readonly optIn: OptIn;
  /** Of which kinds the objects count that the pod spec refers to; "marked": those whose owner marked them for it. */
  readonly fromPodSpec: Readonly<Record<ConfigKind, "all" | "marked" | "none">>;
  /** Objects that are named besides. */
  readonly named: readonly Reference[];
  readonly patterns: readonly Pattern[];
  /** Objects that do not count for this dialect, by name. */
  readonly excluded: Readonly<Record<ConfigKind, readonly string[]>>;
  /** At least so long between two rolls, milliseconds. */
  readonly minIntervalMs: number | undefined;
  readonly mistakes: readonly Warning[];
}

/** The annotations that a dialect reads, of one workload. */
export interface DialectSource {
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly templateAnnotations: Readonly<Record<string, string>>;
}
