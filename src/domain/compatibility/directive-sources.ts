import { updateOnConfigChange } from "../references/annotations.ts";
import type { Reference } from "../references/references.ts";
import type { Asked, Dialect, DialectSettings, DialectSource } from "./directive.ts";
import { stakaterSays } from "./stakater-directives.ts";

/** Who asks that a workload is rolled for what it refers to. */
export interface Asker {
  readonly dialect: Dialect;
  /** The annotation that says so, or with two dashes the flag. */
  readonly by: string;
}

/** Which dialects lead to a reference, and by what; `asked` is what those that are understood ask for. */
export function askersFor(
  reference: Reference,
  source: DialectSource,
  asked: readonly Asked[],
  settings: DialectSettings | undefined,
): readonly Asker[] {
  const optedIn = asked.filter(({ optIn }) => optIn.state === "in");
  const annotation = /annotations\[(.*)\]$/.exec(reference.path)?.[1];
  if (annotation !== undefined) {
    const names = ({ named, patterns }: Asked) => [...named, ...patterns].some(({ path }) => path === reference.path);
    return optedIn.filter(names).map(({ dialect }) => ({ dialect, by: annotation }));
  }
  const { kind, name } = reference;
  return optedIn
    .filter(({ fromPodSpec, excluded }) => fromPodSpec[kind] !== "none" && !excluded[kind].includes(name))
    .map(({ dialect }) => {
      const said = dialect === "stakater" && settings ? stakaterSays(source, kind, settings) : updateOnConfigChange;
      return { dialect, by: said };
    });
}
