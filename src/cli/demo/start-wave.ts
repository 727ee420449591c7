import { systemClock } from "../../lib/clock.ts";
import { runManager } from "../../manager/manager.ts";
import { type Runnable, startRunnable } from "../../manager/run-assembly.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { Terminal } from "../command/command.ts";
import { version } from "../command/version.ts";
import { parseRunArguments } from "../run/run-arguments.ts";

/**
 * Starts Wave in this process like `wave run` with these flags, but without ports. Wave runs until the returned part is stopped;
 * `onFailure` receives the error if Wave fails earlier.
 */
export function startWave(
  flags: readonly string[],
  terminal: Terminal,
  log: Logger,
  onFailure: (error: unknown) => void,
): Runnable {
  const withoutPorts = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  // A person watches, so edits neither settle nor wait for earlier rollouts.
  const atOnce = ["--settle=0", "--max-concurrent-rollouts=0"];
  // Without the environment: the demo must not depend on variables for `wave run`.
  const request = parseRunArguments([...withoutPorts, ...atOnce, ...flags], {});
  if (request.action !== "run") throw new Error(`not flags of wave run: ${flags.join(" ")}`);
  const { settings } = request;
  const { env, homeDir } = terminal;
  const deps = { clock: systemClock, log, env, homeDir, version: version() };
  return startRunnable("Wave", (signal) => runManager(settings, { ...deps, signal }), onFailure);
}
