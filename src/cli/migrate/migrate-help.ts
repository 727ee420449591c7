import { sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { migrateFlags } from "./migrate-flags.ts";
import { migrationEffects } from "./workload-migration.ts";

/** What `wave migrate --help` prints. */
export function migrateHelp(): string {
  return renderHelp(
    {
      usage: "wave migrate --dry-run [flags]",
      summary:
        "Tells what Wave would do with each workload if it took over now from Wave in Go, SAP's pod-reloader or Stakater's " +
        "Reloader, whose annotations it understands here unless --compatibility says otherwise. It writes nothing.",
      examples: [
        ["wave migrate --dry-run -A", "the whole cluster"],
        [
          "wave migrate --dry-run -A --compatibility=wave,stakater -o json",
          "for a program, as that Wave would be told",
        ],
      ],
      words: { heading: "What becomes of a workload", meanings: migrationEffects },
      exits: {
        0: "nothing would roll",
        1: "something would roll",
        ...sharedExitCodes,
      },
    },
    migrateFlags,
  );
}
