// `wave run`: turns arguments into settings and starts the manager. This folder decides nothing about workloads.
import { constants } from "node:os";
import { ClusterConfigError } from "../../kube/api/api-failure.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Settings } from "../../manager/settings.ts";
import { NotifyFileError } from "../../notify/file/notify-file.ts";
import { createLogger, type Logger } from "../../telemetry/logging/log.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import { accepting, type Command, exitCodes, type Terminal, version } from "../command/command.ts";
import { UsageError } from "../flags/flag-types.ts";
import { runFlags } from "../flags/run-flags.ts";
import { hasColors } from "../output/table.ts";
import { parseRunArguments } from "./run-arguments.ts";

/** `wave run` of the image, with the flags that shells complete. */
export const run: Command = runIf(async () => {});

/** Returns `wave run` with a check of the settings. The check throws a UsageError if this Wave must not start. */
export function runIf(mayStart: (settings: Settings, terminal: Terminal) => Promise<void>): Command {
  return accepting((args, terminal) => runCommand(args, terminal, mayStart), { flags: runFlags });
}

/**
 * Runs the controller until SIGTERM or SIGINT, and resolves with 0. Resolves with 1 after an error, which the last log line
 * explains. A second signal ends the process at once.
 * @throws UsageError for a mistake in flags, variables, the kubeconfig or the file of `--notify`.
 */
async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  mayStart: Parameters<typeof runIf>[0],
): Promise<number> {
  const parsed = parseRunArguments(args, terminal.env);
  if (parsed.action === "help") {
    const { runHelp } = await import("./run-help.ts");
    terminal.write(runHelp(parsed.scope));
    return exitCodes.done;
  }
  if (parsed.action === "version") {
    terminal.write(`wave ${version()}\n`);
    return exitCodes.done;
  }
  const { settings } = parsed;
  const log = createLogger({
    format: settings.logFormat ?? (terminal.errorsToTerminal ? "text" : "json"),
    level: settings.logLevel,
    color: hasColors(terminal.env, terminal.errorsToTerminal),
    clock: systemClock,
    write: terminal.writeError,
  });
  // Runs before the handler in main.ts, because a bug belongs in the log.
  process.prependListener("uncaughtException", (error) => {
    log.error(logMessages.bug(errorText(error)), { stack: error.stack });
    process.exit(exitCodes.bug);
  });
  const { env, homeDir } = terminal;
  try {
    await mayStart(settings, terminal);
    const { runManager } = await import("../../manager/manager.ts");
    await runManager(settings, {
      clock: systemClock,
      log,
      signal: untilSignal(log),
      env,
      homeDir,
      version: version(),
    });
    return exitCodes.done;
  } catch (error) {
    // The kubeconfig and the file of --notify are settings too.
    if (error instanceof UsageError) throw error;
    if (error instanceof ClusterConfigError || error instanceof NotifyFileError) throw new UsageError(error.message);
    log.error(errorText(error));
    if (error instanceof Error) log.debug("stack of the error", { stack: error.stack });
    return exitCodes.no;
  }
}

/** Returns a signal that the first SIGTERM or SIGINT aborts. The second one ends the process with the exit code of that signal. */
function untilSignal(log: Logger): AbortSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) {
      log.warn(logMessages.secondSignal, { signal: name });
      process.exit(128 + constants.signals[name]);
    }
    log.info("stopping", { signal: name });
    stop.abort();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return stop.signal;
}
