import { updateOnConfigChange } from "../references/annotations.ts";
import type { Reference } from "../references/references.ts";
import type { Compatibility, CompatibilitySettings, CompatibilitySource, WorkloadDirective } from "./directive.ts";
import { stakaterSourceOf } from "./stakater-directives.ts";

/** The annotation or flag that requests rollouts of a workload for a reference. */
export interface DirectiveSource {
  readonly compatibility: Compatibility;
  /** The name of the annotation, or the flag with two dashes. */
  readonly by: string;
}

/** Returns which annotations or flags request rollouts for a reference. `directives` are those of the workload. */
export function directiveSourcesOf(
  reference: Reference,
  source: CompatibilitySource,
  directives: readonly WorkloadDirective[],
  settings: CompatibilitySettings | undefined,
): readonly DirectiveSource[] {
  const optedIn = directives.filter(({ optIn }) => optIn.state === "in");
  const { kind, name, path, annotation } = reference;
  if (annotation !== undefined) {
    const isNamedBy = ({ named, patterns }: WorkloadDirective) =>
      [...named, ...patterns].some((one) => one.path === path);
    return optedIn.filter(isNamedBy).map(({ compatibility }) => ({ compatibility, by: annotation }));
  }
  return optedIn
    .filter(({ fromPodSpec, excluded }) => fromPodSpec[kind] !== "none" && !excluded[kind].includes(name))
    .map(({ compatibility }) => {
      const isStakater = compatibility === "stakater" && settings !== undefined;
      return { compatibility, by: isStakater ? stakaterSourceOf(source, kind, settings) : updateOnConfigChange };
    });
}
