import { configHash, updateOnConfigChange } from "../references/annotations.ts";
import type { Annotations } from "../references/wave-annotations.ts";
import { type Asked, type CompatibilityRow, excludesNothing, type NamesOfKind } from "./directive.ts";
import { sapConfigHash, sapRows } from "./sap.ts";
import type { Compatibility, CompatibilitySettings, Pattern } from "./settings.ts";
import { stakaterRows } from "./stakater.ts";

/** What is kept of a workload where other dialects than Wave's are understood. */
export interface Foreign {
  /** Every dialect that is understood. */
  readonly understood: readonly Compatibility[];
  /** The dialects that opt it in, Wave's among them where that does. */
  readonly compatibility: readonly Compatibility[];
  /** The annotations of its metadata that other dialects read, as they are written, and Wave's opt-in beside them. */
  readonly annotations: Annotations;
  /** At least so long between two rolls, milliseconds; 0 where none of them asks for that. */
  readonly minIntervalMs: number;
  /** Regular expressions over names of objects in its namespace. */
  readonly patterns: readonly Pattern[];
  /** What does not count though an expression matches it. */
  readonly excluded: NamesOfKind;
}

/** Of the many that say nothing: shared. */
const saysNothing: Annotations = {};

/** What is kept of a workload with these annotations. */
export function foreignOf(
  annotations: Annotations,
  asked: readonly Asked[],
  { understood }: CompatibilitySettings,
): Foreign {
  const optedIn = asked.filter(({ optIn }) => optIn.state === "in");
  const said = foreignNames(understood).filter((name) => annotations[name] !== undefined);
  const kept = said.length === 0 ? [] : [updateOnConfigChange, ...said];
  const entries = kept.flatMap((name) => (annotations[name] === undefined ? [] : [[name, annotations[name]]]));
  return {
    understood,
    compatibility: optedIn.map(({ compatibility }) => compatibility),
    annotations: entries.length === 0 ? saysNothing : Object.fromEntries(entries),
    patterns: optedIn.flatMap(({ patterns }) => patterns),
    excluded: optedIn.find(({ patterns }) => patterns.length > 0)?.excluded ?? excludesNothing,
    minIntervalMs: Math.max(0, ...optedIn.map(({ minIntervalMs = 0 }) => minIntervalMs)),
  };
}

/** The annotations that each dialect reads on a workload's own metadata. */
const namesOf: Readonly<Record<Compatibility, readonly string[]>> = {
  wave: [],
  sap: onWorkload(sapRows),
  stakater: onWorkload(stakaterRows),
};

function onWorkload(rows: readonly CompatibilityRow[]): readonly string[] {
  return rows.filter(({ on }) => on.includes("workload")).map(({ name }) => name);
}

/** The annotations of a workload's metadata that dialects read besides Wave's own. */
export function foreignNames(understood: readonly Compatibility[] = []): readonly string[] {
  return understood.flatMap((compatibility) => namesOf[compatibility]);
}

/** Where hashes may stand in a pod template, besides Wave's own annotation. */
export function foreignHash(understood: readonly Compatibility[] = []): string | undefined {
  return understood.includes("sap") ? sapConfigHash : undefined;
}

/**
 * The annotation of a pod template that has the hash, or is to have it. Where one stands already it stays: to move it would make
 * new Pods. Else another dialect's annotation has it where that alone asks for rolls.
 */
export function hashAnnotationOf(
  template: Annotations,
  foreign: Foreign | undefined,
  other: string | undefined,
): string {
  if (foreign === undefined || other === undefined) return configHash;
  const alone = foreign.compatibility.length === 1 && foreign.compatibility[0] === "sap";
  const [wanted, second] = alone ? [other, configHash] : [configHash, other];
  return template[wanted] === undefined && template[second] !== undefined ? second : wanted;
}
