import { configHash } from "../references/annotations.ts";
import type { Annotations } from "../references/wave-annotations.ts";
import { type CompatibilityRow, type NamesByKind, noExclusions, type WorkloadDirective } from "./directive.ts";
import { sapConfigHash, sapRows } from "./sap.ts";
import type { Compatibility, CompatibilitySettings, PatternReference } from "./settings.ts";
import { stakaterRows } from "./stakater.ts";

/** What a workload keeps of its directives if compatibility with other controllers is enabled. */
export interface PeerDirectives {
  /** Every enabled compatibility. */
  readonly understood: readonly Compatibility[];
  /** Each compatibility that opts the workload in, including Wave. */
  readonly compatibility: readonly Compatibility[];
  /** The value of the SAP hash annotation on the metadata, a precondition of a request; undefined if absent. */
  readonly precondition: string | undefined;
  /** Minimum time between two rollouts, in milliseconds; 0 if no directive sets one. */
  readonly minIntervalMs: number;
  /** Regular expressions over names of objects in the namespace of the workload. */
  readonly patterns: readonly PatternReference[];
  /** Objects that are not tracked even if an expression matches them. */
  readonly excluded: NamesByKind;
}

/** Returns what a workload keeps of its directives. */
export function peerDirectivesOf(
  annotations: Annotations,
  directives: readonly WorkloadDirective[],
  { understood }: CompatibilitySettings,
): PeerDirectives {
  const optedIn = directives.filter(({ optIn }) => optIn.state === "in");
  return {
    understood,
    compatibility: optedIn.map(({ compatibility }) => compatibility),
    precondition: understood.includes("sap") ? annotations[sapConfigHash] : undefined,
    patterns: optedIn.flatMap(({ patterns }) => patterns),
    excluded: optedIn.find(({ patterns }) => patterns.length > 0)?.excluded ?? noExclusions,
    minIntervalMs: Math.max(0, ...optedIn.map(({ minIntervalMs = 0 }) => minIntervalMs)),
  };
}

/** The annotations of a workload that each compatibility reads. */
const namesOf: Readonly<Record<Compatibility, readonly string[]>> = {
  wave: [],
  sap: onWorkload(sapRows),
  stakater: onWorkload(stakaterRows),
};

function onWorkload(rows: readonly CompatibilityRow[]): readonly string[] {
  return rows.filter(({ on }) => on.includes("workload")).map(({ name }) => name);
}

/** Returns the annotations of a workload that the enabled compatibilities read, without those of Wave. */
export function peerAnnotationNames(understood: readonly Compatibility[] = []): readonly string[] {
  return understood.flatMap((compatibility) => namesOf[compatibility]);
}

/** Returns the second annotation of a pod template that may have the hash; undefined if there is only that of Wave. */
export function peerHashAnnotation(understood: readonly Compatibility[] = []): string | undefined {
  return understood.includes("sap") ? sapConfigHash : undefined;
}

/**
 * Returns the annotation of a pod template that has the hash, or that will have it. An existing hash keeps its annotation, because
 * moving it would replace Pods. A first hash uses the annotation of SAP if SAP annotations alone request rollouts.
 */
export function hashAnnotationOf(
  template: Annotations,
  peer: PeerDirectives | undefined,
  other: string | undefined,
): string {
  if (peer === undefined || other === undefined) return configHash;
  const alone = peer.compatibility.length === 1 && peer.compatibility[0] === "sap";
  const [wanted, second] = alone ? [other, configHash] : [configHash, other];
  return template[wanted] === undefined && template[second] !== undefined ? second : wanted;
}
