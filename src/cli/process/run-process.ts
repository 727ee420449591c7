import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { homedir } from "node:os";
import { printableOutput } from "../../lib/printable.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { exitCodes, type Terminal } from "../command/command.ts";
import type { LiveTerminal } from "../output/live-lines.ts";
import { canRewrite } from "../output/table.ts";

/**
 * Time for one address of a name with IPv4 and IPv6 addresses, in milliseconds, before the next address is tried. The default of
 * Node.js is less than a handshake over a slow link takes, and no address is tried twice. A lost packet is sent again after 1 s.
 */
const addressTimeoutMs = 2_000;

/** Runs a program with the arguments, the environment and the streams of this process, and ends the process with its exit code. */
export function runProcess(program: (args: readonly string[], terminal: Terminal) => Promise<number>): void {
  // A closed pipe (as in "wave explain ... | head") is no error. A controller whose log reader is gone must keep running.
  process.stdout.on("error", () => process.exit(0));
  process.stderr.on("error", () => {});
  process.on("uncaughtException", onBug);
  setDefaultAutoSelectFamilyAttemptTimeout(addressTimeoutMs);
  const { argv, env } = process;
  program(argv.slice(2), {
    env,
    homeDir: homeDirectory(),
    program: env.WAVE_PROGRAM === "kubectl wave" ? "kubectl wave" : "wave",
    input: () => process.stdin,
    write: (text) => void process.stdout.write(printableOutput(text)),
    writeError: (text) => void process.stderr.write(printableOutput(text)),
    outputToTerminal: process.stdout.isTTY === true,
    // A terminal without a known width reports 0.
    outputColumns: process.stdout.columns || undefined,
    errorsToTerminal: process.stderr.isTTY === true,
    live: liveTerminal(),
  }).then((code) => process.exit(code), onBug);
}

/** Returns the terminal of standard output; undefined if its lines cannot be replaced. */
function liveTerminal(): LiveTerminal | undefined {
  const { env, stdout } = process;
  if (!canRewrite(env, stdout.isTTY === true)) return undefined;
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    // Cursor up, to the first column, and erase what is below.
    rewrite: (lastLines, text) =>
      void stdout.write(`${lastLines > 0 ? `\u001b[${lastLines}A` : ""}\r\u001b[J${printableOutput(text)}`),
  };
}

/** Returns the home directory; undefined if neither the environment nor the user database has one, as for a user ID of a container. */
function homeDirectory(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

function onBug(error: unknown): never {
  process.stderr.write(printableOutput(bugText(error)));
  process.exit(exitCodes.bug);
}

/** Returns the text for an unexpected error: one line, and the stack for the report. */
function bugText(error: unknown): string {
  return `error: bug in Wave: ${errorText(error)}\n${error instanceof Error ? `${error.stack}\n` : ""}`;
}
