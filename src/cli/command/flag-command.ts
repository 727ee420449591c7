import { UsageError } from "../flags/flag-types.ts";
import { type FlagTable, type FlagValues, type GivenFlag, parseFlags } from "../flags/parse-flags.ts";
import { accepting, type Command, exitCodes, type Terminal, version } from "./command.ts";
import { type CommandHelp, renderHelp } from "./help.ts";
import type { ArgumentKind } from "./workload-argument.ts";

/** One call of a command. */
export interface CommandCall<T extends FlagTable> {
  readonly values: FlagValues<T>;
  /** The flags that an argument or a variable sets; all other flags have their defaults. */
  readonly given: ReadonlyMap<string, GivenFlag>;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

/** A command as a row: its flags, its help and its work. */
export interface FlagCommandRow<T extends FlagTable> {
  readonly flags: T;
  /** Whether environment variables set flags; true by default. */
  readonly readsVariables?: boolean;
  /** The kinds of object that the command takes by name; undefined if it takes no object. */
  readonly kinds?: readonly ArgumentKind<string>[] | undefined;
  readonly help: CommandHelp;
  /** Returns the error about an argument that is no flag; undefined if the command takes such arguments. */
  readonly surplus?: ((argument: string) => string) | undefined;
  /** Does the work and resolves with the exit code. Throws a UsageError for an invalid argument. */
  readonly run: (call: CommandCall<T>) => Promise<number>;
}

/** Builds a command that answers `--help`, `--help-all` and `--version`, and otherwise runs. */
export function flagCommand<T extends FlagTable>(row: FlagCommandRow<T>): Command {
  const { flags, readsVariables = true, kinds, help, surplus, run } = row;
  const command: Command = async (args, terminal) => {
    const parsed = parseFlags(flags, args, readsVariables ? terminal.env : {});
    if (parsed.action !== "run") {
      terminal.write(parsed.action === "help" ? renderHelp(help, flags, parsed.scope) : `wave ${version()}\n`);
      return exitCodes.done;
    }
    const [argument] = parsed.positionals;
    if (argument !== undefined && surplus !== undefined) throw new UsageError(surplus(argument));
    return run({ ...parsed, terminal });
  };
  return accepting(command, { flags, kinds });
}
