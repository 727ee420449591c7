import { orUsageError, type Terminal } from "../command/command.ts";
import { UsageError } from "../flags/flag-types.ts";
import { run } from "./run.ts";
import { runErrorTexts } from "./run-arguments.ts";

/** Runs the program of the image, which has only `run`, `--version`, and the release before `helm uninstall`, and resolves with the exit code. */
export function controller([first, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  return orUsageError(terminal, async () => {
    if (first === "run") return run(rest, terminal);
    if (first === "version" || first === "--version") return run(["--version"], terminal);
    if (first === "release" && rest[0] === "--scheduling-holds") {
      const { releaseHolds } = await import("../release/scheduling-holds.ts");
      return releaseHolds(rest, terminal);
    }
    throw new UsageError(runErrorTexts.onlyController(first ?? ""));
  });
}
