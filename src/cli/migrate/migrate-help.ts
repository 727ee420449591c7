import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { migrateFlags } from "./migrate-flags.ts";
import { migrationEffects } from "./workload-migration.ts";

/** Returns the help of `wave migrate`. */
export function migrateHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave migrate --dry-run [flags]",
      description:
        "Preview what happens to each workload if Wave replaces Wave in Go, SAP pod-reloader or Stakater Reloader.",
      examples: [
        ["wave migrate --dry-run -A", "the whole cluster"],
        ["wave migrate --dry-run -A --compatibility=wave,stakater -o json", "only these annotations, for a program"],
      ],
      usualFlags: ["dry-run", "namespace", "all-namespaces", "output"],
      details: [
        "The preview understands the annotations of all these controllers, unless --compatibility selects some. It uses your permissions and writes nothing.",
        "It does not read the flags of a running Wave: give the flags that the new Wave will have.",
      ],
      words: { heading: "Effects", meanings: migrationEffects },
      exits: {
        [exitCodes.done]: "No workload would roll.",
        [exitCodes.no]: "Some workloads would roll.",
        ...sharedExitCodes,
      },
    },
    migrateFlags,
    scope,
  );
}
