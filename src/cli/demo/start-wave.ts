import { systemClock } from "../../lib/clock.ts";
import { runManager } from "../../manager/manager.ts";
import { type Runnable, startRunnable } from "../../manager/runnable.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { Terminal } from "../command/command.ts";
import { version } from "../command/version.ts";
import { parseRunArguments } from "../run/settings.ts";

/**
 * Wave as `wave run` with these flags has it, but without ports, until the part is stopped. `onFailure` is told why it
 * could not go on.
 */
export function startWave(
  flags: readonly string[],
  terminal: Terminal,
  log: Logger,
  onFailure: (error: unknown) => void,
): Runnable {
  const withoutPorts = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  // A person watches: nothing settles, and no edit waits for the one before.
  const atOnce = ["--settle=0", "--max-concurrent-rollouts=0"];
  // The variables that stand for flags are for `wave run`, and the demo is the same everywhere.
  const request = parseRunArguments([...withoutPorts, ...atOnce, ...flags], {});
  if (request.action !== "run") throw new Error(`not flags of wave run: ${flags.join(" ")}`);
  const { settings } = request;
  const { env, homeDir } = terminal;
  const deps = { clock: systemClock, log, env, homeDir, version: version() };
  return startRunnable("Wave", (signal) => runManager(settings, { ...deps, signal }), onFailure);
}
