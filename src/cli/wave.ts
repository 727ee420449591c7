// The entry point of the command line: finds the command and runs it. This file may import every command, and only main.ts
// imports it.

import { closestName } from "../domain/syntax/names.ts";
import { argumentErrorTexts, type Command, exitCodes, orUsageError, type Terminal } from "./command/command.ts";
import { commandGroups, commands } from "./commands.ts";
import { UsageError } from "./flags/flag-types.ts";

/** Runs `wave` with these arguments and resolves with the exit code. */
export async function wave(args: readonly string[], caller: Terminal): Promise<number> {
  const terminal = withProgramName(caller);
  const [first, ...rest] = args;
  if (first === "__complete") return completeWords(rest, terminal);
  const name = commandWord(first);
  return orUsageError(terminal, async () => (await commandNamed(name))(rest, terminal));
}

/** Returns the name of the command that the first argument means. */
function commandWord(first: string | undefined): string {
  if (first === undefined || first === "--help" || first === "-h" || first === "--help-all") return "help";
  return first === "--version" || first === "-v" ? "version" : first;
}

const help: Command = async (args, terminal) => {
  const { overview, helpTopics } = await import("./help/overview.ts");
  const [name] = args;
  const topic = name !== undefined && Object.hasOwn(helpTopics, name) ? helpTopics[name] : undefined;
  if (topic !== undefined) {
    terminal.write(topic());
    return exitCodes.done;
  }
  if (name !== undefined && name !== "help" && !name.startsWith("-"))
    return (await commandNamed(name))(["--help"], terminal);
  terminal.write(overview(commandGroups, commands));
  return exitCodes.done;
};

async function commandNamed(name: string): Promise<Command> {
  if (name === "help") return help;
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (listed !== undefined) return listed.load();
  const closest = closestName(name, [...Object.keys(commands), "help"]);
  throw new UsageError(
    closest === undefined ? argumentErrorTexts.unknownCommand(name) : argumentErrorTexts.misspeltCommand(name, closest),
  );
}

/** Answers the completion request of a shell. Loads a command only to complete its flags. */
async function completeWords(words: readonly string[], terminal: Terminal): Promise<number> {
  const { complete, shells } = await import("./completion/completion.ts");
  const { helpTopics } = await import("./help/overview.ts");
  const summaries = new Map(Object.entries(commands).map(([name, { summary }]) => [name, summary]));
  summaries.set("help", "Show help for a command or a topic");
  const topics = [...summaries.keys(), ...Object.keys(helpTopics)];
  return complete(words, { summaries, load: commandNamed, words: { completion: shells, help: topics }, terminal });
}

/** Returns a terminal that writes `kubectl wave COMMAND` instead of `wave COMMAND` if kubectl runs Wave as its plugin. */
function withProgramName(terminal: Terminal): Terminal {
  const { program, write, writeError } = terminal;
  if (program === "wave") return terminal;
  const names = [...Object.keys(commands), "help", "COMMAND"].join("|");
  const mention = new RegExp(`(?<![\\w./-])wave(?= (?:${names})\\b)`, "g");
  const renamed = (text: string) => text.replaceAll(mention, program);
  return { ...terminal, write: (text) => write(renamed(text)), writeError: (text) => writeError(renamed(text)) };
}
