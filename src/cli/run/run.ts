// `wave run`: turns arguments into settings and starts the manager. This folder decides nothing about workloads.
import { constants } from "node:os";
import { ClusterConfigError } from "../../kube/api/api-failure.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Settings } from "../../manager/settings.ts";
import { NotifyFileError } from "../../notify/file/notify-file.ts";
import { createLogger, type Logger } from "../../telemetry/logging/log.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import { type Command, exitCodes, type Terminal, version } from "../command/command.ts";
import { type CommandHelp, flagCommand } from "../command/help.ts";
import { flagsWithoutEffect } from "../flags/compatibility-flags.ts";
import { UsageError } from "../flags/flag-types.ts";
import { runFlags } from "../flags/run-flags.ts";
import { hasColors } from "../output/table.ts";
import { runSettings } from "./run-arguments.ts";

/** The help of `wave run`, without its flags. */
export const runHelp: CommandHelp = {
  usage: "wave run [flags]",
  description: "Run the controller, which rolls the workloads that opted in.",
  examples: [
    ["wave run --observe", "your kubeconfig, without writes"],
    ["wave run --leader-election --enable-webhooks", "in a cluster"],
    ["wave run --namespaces=shop,web --sync-period=10m --log-format=json", "two namespaces, JSON logs"],
    [
      "wave run --enable-webhooks --webhook-bind-address=127.0.0.1:9443 --webhook-url=https://127.0.0.1:9443",
      "webhooks for an API server on the same machine",
    ],
  ],
  usualFlags: ["namespaces", "observe", "enable-webhooks", "leader-election"],
  details: [
    "The flags for the cluster are those of kubectl, except --request-timeout: Wave limits and repeats each request itself.",
    'To opt in a workload, set its annotation wave.pusher.com/update-on-config-change to "true".',
    "Durations have the form of Go: 300ms, 1.5s, 5m, 1h30m. A boolean flag takes its value after an equals sign: --scheduling-hold=false.",
    `Accepted flags of Reloader without effect: ${Object.keys(flagsWithoutEffect)
      .map((name) => `--${name}`)
      .join(", ")}.`,
  ],
  exits: {
    [exitCodes.done]: "Stopped by SIGTERM or SIGINT. A second signal ends the process at once.",
    [exitCodes.no]: "Stopped by an error. See the last log line.",
    [exitCodes.usage]: "Usage error: invalid flags or variables, a bad kubeconfig, or a bad --notify file.",
  },
};

/** `wave run` of the image. */
export const run: Command = runIf(async () => {});

/** Returns `wave run` with a check of the settings. The check throws a UsageError if this Wave must not start. */
export function runIf(mayStart: (settings: Settings, terminal: Terminal) => Promise<void>): Command {
  return flagCommand({
    flags: runFlags,
    help: runHelp,
    run: (call) => runController(runSettings(call, call.terminal.env), call.terminal, mayStart),
  });
}

/**
 * Runs the controller until SIGTERM or SIGINT, and resolves with 0. Resolves with 1 after an error, which the last log line
 * explains. A second signal ends the process at once.
 * @throws UsageError for a mistake in the kubeconfig or the file of `--notify`.
 */
async function runController(
  settings: Settings,
  terminal: Terminal,
  mayStart: Parameters<typeof runIf>[0],
): Promise<number> {
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
