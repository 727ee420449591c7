import { type Annotations, configHash, updateOnConfigChange } from "../references/annotations.ts";
import { extraReferences } from "../references/references.ts";
import { invalidAnnotationTexts } from "../references/warning.ts";
import {
  type Compatibility,
  type CompatibilityRow,
  type CompatibilitySettings,
  type CompatibilitySource,
  type NamesByKind,
  type NamespaceOptIn,
  noExclusions,
  type OptIn,
  type PatternReference,
  readOptIn,
  sapConfigHash,
  sapDirective,
  sapRows,
  type WorkloadDirective,
} from "./directive.ts";
import { stakaterAuto, stakaterRows } from "./stakater.ts";
import { stakaterDirective } from "./stakater-directives.ts";

/** What decides, in addition to the annotations of the workload, what is requested. */
export interface DirectiveContext {
  /** Returns the policy of a Namespace by name. */
  readonly namespacePolicyOf?: NamespaceOptIn;
  /** Undefined: Wave reads only its own annotations. */
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Whether volumes of SecretProviderClasses are references, in every compatibility. Default: no. */
  readonly providerClasses?: boolean | undefined;
}

/** Returns what the annotations of a workload request, one directive for each enabled compatibility. */
export function readDirectives(source: CompatibilitySource, context: DirectiveContext): readonly WorkloadDirective[] {
  const settings = context.compatibility;
  if (settings === undefined) return [waveDirective(source, context)];
  const { understood } = settings;
  return [
    ...(understood.includes("wave") ? [waveDirective(source, context)] : []),
    ...(understood.includes("sap") ? [sapDirective(source)] : []),
    ...(understood.includes("stakater") ? [stakaterDirective(source, context, settings)] : []),
  ];
}

/** Returns the directive of Wave annotations: everything that Pods read is required, and the extra objects too. */
function waveDirective(source: CompatibilitySource, { namespacePolicyOf }: DirectiveContext): WorkloadDirective {
  const optIn = readOptIn(source, source.namespace, namespacePolicyOf);
  const { references, mistakes } =
    optIn.state === "in" ? extraReferences(source, source.namespace) : { references: [], mistakes: [] };
  return {
    compatibility: "wave",
    optIn,
    fromPodSpec: { ConfigMap: "all", Secret: "all", SecretProviderClass: "all" },
    named: references,
    patterns: [],
    excluded: noExclusions,
    minIntervalMs: undefined,
    mistakes,
  };
}

/** Returns the opt-in of a workload. One directive that opts in is enough, whatever the others request. */
export function optInOf(directives: readonly WorkloadDirective[]): OptIn {
  const optIns = directives.map(({ optIn }) => optIn);
  return (
    optIns.find(({ state }) => state === "in") ?? optIns.find(({ state }) => state === "unclear") ?? { state: "out" }
  );
}

/** Returns messages about annotations that opt a workload out although another compatibility opts it in. */
export function contradictions(
  { annotations }: CompatibilitySource,
  directives: readonly WorkloadDirective[],
): readonly string[] {
  const optingIn = directives.filter(({ optIn }) => optIn.state === "in");
  if (optingIn.length === 0) return [];
  const names = optingIn.map(({ compatibility }) => compatibilityTitles[compatibility]).join(" and ");
  return directives.flatMap(({ compatibility, optIn }) => {
    const annotation = optInAnnotations[compatibility];
    const value = annotation && annotations[annotation];
    if (optIn.state === "in" || !annotation || !value) return [];
    return [invalidAnnotationTexts.contradiction(annotation, value, names)];
  });
}

/** The annotation that opts in or out explicitly, by compatibility; undefined if there is no such annotation. */
const optInAnnotations: Readonly<Record<Compatibility, string | undefined>> = {
  wave: updateOnConfigChange,
  sap: undefined,
  stakater: stakaterAuto,
};

/** The name of each compatibility in messages. */
const compatibilityTitles: Readonly<Record<Compatibility, string>> = {
  wave: "Wave",
  sap: "SAP pod-reloader",
  stakater: "Stakater Reloader",
};

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

/** Returns the annotations of other controllers that the enabled compatibilities read. */
export function peerAnnotationRows(understood: readonly Compatibility[]): readonly CompatibilityRow[] {
  return [...(understood.includes("sap") ? sapRows : []), ...(understood.includes("stakater") ? stakaterRows : [])];
}

/** Returns the names of those that the enabled compatibilities read on a workload. */
export function peerAnnotationNames(understood: readonly Compatibility[] = []): readonly string[] {
  return peerAnnotationRows(understood).flatMap(({ name, on }) => (on.includes("workload") ? [name] : []));
}

/** Returns the second annotation of a pod template that may have the hash; undefined if there is only that of Wave. */
export function peerHashAnnotation(understood: readonly Compatibility[] = []): string | undefined {
  return understood.includes("sap") ? sapConfigHash : undefined;
}

/**
 * Returns the annotation of a pod template that has the hash, or that will have it. An existing hash keeps its annotation, because
 * moving it would replace Pods. A first hash uses the annotation of SAP if SAP annotations alone request rollouts.
 */
export function hashAnnotationOf(template: Annotations, peer: PeerDirectives | undefined): string {
  const other = peerHashAnnotation(peer?.understood);
  if (peer === undefined || other === undefined) return configHash;
  const alone = peer.compatibility.length === 1 && peer.compatibility[0] === "sap";
  const [wanted, second] = alone ? [other, configHash] : [configHash, other];
  return template[wanted] === undefined && template[second] !== undefined ? second : wanted;
}
