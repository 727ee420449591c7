import { homedir } from "node:os";
import { printableOutput } from "../../lib/printable.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Terminal } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { processEnvironment } from "../run/run-arguments.ts";

/** Runs a program with the arguments, the environment and the streams of this process, and ends the process with its exit code. */
export function runProcess(program: (args: readonly string[], terminal: Terminal) => Promise<number>): void {
  // A closed pipe (as in "wave explain ... | head") is no error. A controller whose log reader is gone must keep running.
  process.stdout.on("error", () => process.exit(0));
  process.stderr.on("error", () => {});
  process.on("uncaughtException", onBug);
  program(process.argv.slice(2), {
    env: processEnvironment(),
    homeDir: homedir(),
    program: processEnvironment().WAVE_PROGRAM === "kubectl wave" ? "kubectl wave" : "wave",
    input: () => process.stdin,
    write: (text) => void process.stdout.write(printableOutput(text)),
    writeError: (text) => void process.stderr.write(printableOutput(text)),
    outputToTerminal: process.stdout.isTTY === true,
    // A terminal without a known width reports 0.
    outputColumns: process.stdout.columns || undefined,
    errorsToTerminal: process.stderr.isTTY === true,
  }).then((code) => process.exit(code), onBug);
}

function onBug(error: unknown): never {
  process.stderr.write(printableOutput(bugText(error)));
  process.exit(exitCodes.bug);
}

/** Returns the text for an unexpected error: one line, and the stack for the report. */
function bugText(error: unknown): string {
  return `error: bug in Wave: ${errorText(error)}\n${error instanceof Error ? `${error.stack}\n` : ""}`;
}
