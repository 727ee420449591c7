import { updateOnConfigChange } from "../references/annotations.ts";
import type { Reference } from "../references/references.ts";
import type { Asked, Compatibility, CompatibilitySettings, CompatibilitySource } from "./directive.ts";
import { stakaterSays } from "./stakater-directives.ts";

/** Who asks that a workload is rolled for what it refers to. */
export interface Asker {
  readonly compatibility: Compatibility;
  /** The annotation that says so, or with two dashes the flag. */
  readonly by: string;
}

/** Which dialects lead to a reference, and by what; `asked` is what those that are understood ask for. */
export function askersFor(
  reference: Reference,
  source: CompatibilitySource,
  asked: readonly Asked[],
  settings: CompatibilitySettings | undefined,
): readonly Asker[] {
  const optedIn = asked.filter(({ optIn }) => optIn.state === "in");
  const annotation = /annotations\[(.*)\]$/.exec(reference.path)?.[1];
  if (annotation !== undefined) {
    const names = ({ named, patterns }: Asked) => [...named, ...patterns].some(({ path }) => path === reference.path);
    return optedIn.filter(names).map(({ compatibility }) => ({ compatibility, by: annotation }));
  }
  const { kind, name } = reference;
  return optedIn
    .filter(({ fromPodSpec, excluded }) => fromPodSpec[kind] !== "none" && !excluded[kind].includes(name))
    .map(({ compatibility }) => {
      const said =
        compatibility === "stakater" && settings ? stakaterSays(source, kind, settings) : updateOnConfigChange;
      return { compatibility, by: said };
    });
}
