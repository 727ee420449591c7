// The process: arguments, streams and exit code. Everything else is in src/cli.
import { homedir } from "node:os";
import { exitCodes } from "./cli/command/exit-codes.ts";
import { processEnvironment } from "./cli/run/run-arguments.ts";
import { bugText, wave } from "./cli/wave.ts";

function onBug(error: unknown): never {
  process.stderr.write(bugText(error));
  process.exit(exitCodes.bug);
}

// A closed pipe (as in "wave explain ... | head") is no error. A controller whose log reader is gone must keep running.
process.stdout.on("error", () => process.exit(0));
process.stderr.on("error", () => {});
process.on("uncaughtException", onBug);

wave(process.argv.slice(2), {
  env: processEnvironment(),
  homeDir: homedir(),
  program: processEnvironment().WAVE_PROGRAM === "kubectl wave" ? "kubectl wave" : "wave",
  input: () => process.stdin,
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  outputToTerminal: process.stdout.isTTY === true,
  // A terminal without a known width reports 0.
  outputColumns: process.stdout.columns || undefined,
  errorsToTerminal: process.stderr.isTTY === true,
}).then((code) => process.exit(code), onBug);
