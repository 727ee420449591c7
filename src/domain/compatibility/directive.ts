import type { ConfigKind, Reference } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import type { OptIn } from "./opt-in.ts";
import type { Compatibility, Pattern } from "./settings.ts";

export { type Compatibility, type CompatibilitySettings, compatibility, type Pattern } from "./settings.ts";

/** One annotation of a dialect: docs/compatibility.md has these rows; a test compares. */
export interface CompatibilityRow {
  readonly name: string;
  /** Where it counts; "template" is the pod template of a workload, "config" a ConfigMap or Secret. */
  readonly on: readonly ("workload" | "template" | "config")[];
  /** What may be written, for a person. */
  readonly values: string;
  /** What it does, for a person. */
  readonly means: string;
  /** What is otherwise than in the original, and why; undefined where nothing is. */
  readonly unlike?: string;
}

/** Names of objects of the workload's own namespace, by their kind. */
export type NamesOfKind = Readonly<Record<ConfigKind, readonly string[]>>;

/** What the annotations of one dialect ask for. */
export interface Asked {
  readonly compatibility: Compatibility;
  readonly optIn: OptIn;
  /** Of which kinds the objects count that the pod spec refers to; "marked": those whose owner marked them for it. */
  readonly fromPodSpec: Readonly<Record<ConfigKind, "all" | "marked" | "none">>;
  /** Objects that are named besides, but for those that are excluded. */
  readonly named: readonly Reference[];
  readonly patterns: readonly Pattern[];
  /** Objects that do not count for this dialect. */
  readonly excluded: NamesOfKind;
  /** At least so long between two rolls, milliseconds. */
  readonly minIntervalMs: number | undefined;
  readonly mistakes: readonly Warning[];
}

/** No names of any kind. */
export const excludesNothing: NamesOfKind = { ConfigMap: [], Secret: [], SecretProviderClass: [] };

/** The annotations that a dialect reads, of one workload. */
export interface CompatibilitySource {
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly templateAnnotations: Readonly<Record<string, string>>;
}

/** The answers of a dialect that is not Wave's: shared, as thousands of workloads have them. */
export const optIns = {
  in: { state: "in", by: "compatibility" },
  out: { state: "out" },
} as const satisfies Readonly<Record<string, OptIn>>;

/** What lies between the commas of a list, without space around it and what is empty. */
export function entriesOf(list = ""): readonly string[] {
  const entries = list.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "");
}

/**
 * A whole object of the workload's own namespace. Nobody waits for it: that it is missing is a state like any other.
 */
export function wholeObject(kind: ConfigKind, namespace: string, name: string, path: string): Reference {
  return { kind, namespace, name, reads: "files", keys: "all", optional: true, path };
}
