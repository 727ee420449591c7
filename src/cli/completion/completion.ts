import { enumerated, quoted } from "../../domain/syntax/wording.ts";
import { type Command, type Terminal, accepting } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { parseFlags } from "../flags/parse-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import { type Completable, candidatesFor } from "./candidates.ts";
import { namesOf, otherKinds } from "./cluster-names.ts";
import { scripts, shells } from "./scripts.ts";

/** `wave completion SHELL`: writes the script by which a shell completes `wave`. */
export const completion: Command = accepting(
  async (args, terminal) => {
    const parsed = parseFlags({}, args, {});
    if (parsed.action !== "run") {
      terminal.write(completionHelp());
      return exitCodes.done;
    }
    const [name, ...more] = parsed.positionals;
    const shell = shells.find((each) => each === name);
    if (shell === undefined || more.length > 0) {
      const known = enumerated(shells, shells.length, (each) => each).replace(" and ", " or ");
      throw new UsageError(name === undefined ? `name a shell: ${known}` : `${quoted(args.join(" "))} is not ${known}`);
    }
    terminal.write(scripts[shell]);
    return exitCodes.done;
  },
  { flags: {} },
);

/**
 * `wave __complete WORD…`, for shells: what may stand for the last word, one a line, with a tab before what it means, and then what
 * to do with them, in the numbers of cobra, which kubectl understands too
 * (https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md).
 */
export async function complete(
  words: readonly string[],
  wave: Omit<Completable, "namesOf" | "otherKinds">,
  terminal: Terminal,
): Promise<number> {
  const { offered, files, goesOn } = await candidatesFor(words, {
    ...wave,
    namesOf: (asked) => namesOf(asked, terminal),
    otherKinds: (line) => otherKinds(line, terminal),
  });
  const lines = offered.map(({ word, means }) => (means === undefined ? word : `${word}\t${means}`));
  const directive = files ? filesToo : goesOn ? noFiles | noSpace : noFiles;
  terminal.write([...lines, `:${directive}`].map((line) => `${line}\n`).join(""));
  return exitCodes.done;
}

const filesToo = 0;
const noSpace = 2;
const noFiles = 4;

function completionHelp(): string {
  return renderHelp(
    {
      usage: "wave completion bash|zsh|fish",
      summary: "Writes the script by which a shell completes commands, flags, their values, namespaces and workloads.",
      examples: [
        ["source <(wave completion bash)", "in ~/.bashrc"],
        ["source <(wave completion zsh)", "in ~/.zshrc, after compinit"],
        ["wave completion fish | source", "in ~/.config/fish/config.fish"],
      ],
      notes: ["kubectl completes kubectl wave by itself where kubectl_complete-wave is in the PATH, too."],
    },
    {},
  );
}
