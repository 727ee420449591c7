// domain/compatibility: what annotations of Wave, SAP pod-reloader and Stakater Reloader request. Knows references, no policy or plan.

import type { ConfigKind, Reference } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import type { WorkloadAnnotations } from "../references/wave-annotations.ts";
import type { OptIn } from "./opt-in.ts";
import type { Compatibility, PatternReference } from "./settings.ts";

export { type Compatibility, type CompatibilitySettings, compatibilities, type PatternReference } from "./settings.ts";

/** One annotation of another controller. docs/annotations.md has these rows, and a test compares them. */
export interface CompatibilityRow {
  readonly name: string;
  /** Where the annotation applies: "template" is the pod template of a workload, "config" a ConfigMap or Secret. */
  readonly on: readonly ("workload" | "template" | "config")[];
  /** The allowed values, as text for people. */
  readonly values: string;
  /** Reports whether a value is allowed; undefined: its reader decides. */
  readonly accepts?: (text: string) => boolean;
  /** The effect, as text for people. */
  readonly means: string;
  /** How Wave differs from the original controller, and why; undefined if Wave does not differ. */
  readonly unlike?: string;
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
  readonly mistakes: readonly Warning[];
}

/** Shared value for directives that exclude no object. */
export const noExclusions: NamesByKind = { ConfigMap: [], Secret: [], SecretProviderClass: [] };

/** The annotations of one workload that directives are read from. */
export interface CompatibilitySource extends WorkloadAnnotations {
  readonly namespace: string;
}

/** Shared opt-in values of other controllers, which thousands of workloads have. */
export const optIns = {
  in: { state: "in", by: "compatibility" },
  out: { state: "out" },
} as const satisfies Readonly<Record<string, OptIn>>;
