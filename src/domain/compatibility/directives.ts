import { updateOnConfigChange } from "../references/annotations.ts";
import { extraReferences } from "../references/extra-references.ts";
import type { Warning } from "../references/warning.ts";
import { invalidAnnotationTexts } from "../references/warning-texts.ts";
import {
  type Compatibility,
  type CompatibilitySettings,
  type CompatibilitySource,
  compatibilities,
  noExclusions,
  type WorkloadDirective,
} from "./directive.ts";
import { type NamespaceOptIn, type OptIn, readOptIn } from "./opt-in.ts";
import { sapDirective } from "./sap.ts";
import { stakaterAuto } from "./stakater.ts";
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
  const understood = compatibilities.filter((compatibility) => settings.understood.includes(compatibility));
  return understood.map((compatibility) => directiveReaders[compatibility](source, context, settings));
}

const directiveReaders: Readonly<
  Record<
    Compatibility,
    (source: CompatibilitySource, context: DirectiveContext, settings: CompatibilitySettings) => WorkloadDirective
  >
> = {
  wave: waveDirective,
  sap: sapDirective,
  stakater: stakaterDirective,
};

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

/**
 * Returns the directives that opt a workload in. Returns undefined if no directive does, or if Wave reads only its own
 * annotations.
 */
export function optedInDirectives(
  source: CompatibilitySource,
  context: DirectiveContext,
): readonly WorkloadDirective[] | undefined {
  if (context.compatibility === undefined) return undefined;
  const directives = readDirectives(source, context).filter(({ optIn }) => optIn.state === "in");
  return directives.length > 0 ? directives : undefined;
}

/** Returns the opt-in of a workload. One directive that opts in is enough, whatever the others request. */
export function optInOf(directives: readonly WorkloadDirective[]): OptIn {
  const optIns = directives.map(({ optIn }) => optIn);
  return (
    optIns.find(({ state }) => state === "in") ?? optIns.find(({ state }) => state === "unclear") ?? { state: "out" }
  );
}

/** Returns a warning if one compatibility opts a workload in and an annotation of another one opts it out. */
export function contradictionWarnings(
  { annotations }: CompatibilitySource,
  directives: readonly WorkloadDirective[],
): readonly Warning[] {
  const optingIn = directives.filter(({ optIn }) => optIn.state === "in");
  if (optingIn.length === 0) return [];
  const names = optingIn.map(({ compatibility }) => compatibilityTitles[compatibility]).join(" and ");
  return directives.flatMap(({ compatibility, optIn }) => {
    const annotation = optInAnnotations[compatibility];
    const value = annotation && annotations[annotation];
    if (optIn.state === "in" || !annotation || !value) return [];
    const message = invalidAnnotationTexts.contradiction(annotation, value, names);
    return [{ reason: "InvalidAnnotation", message }];
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
