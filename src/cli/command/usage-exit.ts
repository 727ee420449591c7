import { UsageError } from "../flags/usage-error.ts";
import type { Terminal } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { errorLine } from "./messages.ts";

/** Runs a program and resolves with its exit code. Reports wrong arguments with one line and the exit code for them. */
export async function orUsageError(terminal: Terminal, program: () => Promise<number>): Promise<number> {
  try {
    return await program();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.writeError(errorLine(error.message));
    return exitCodes.usage;
  }
}
