// Completion for shells. This folder knows the flags and kinds of commands, and reads only names from the cluster.
import { formatList } from "../../domain/syntax/wording.ts";
import type { Terminal } from "../command/command.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { flagCommand } from "../command/flag-command.ts";
import { UsageError } from "../flags/usage-error.ts";
import { printable } from "../output/printable.ts";
import { type Completable, candidatesFor } from "./candidates.ts";
import { namesOf, otherKinds } from "./cluster-names.ts";
import { scripts, shells } from "./scripts.ts";

/** `wave completion SHELL`: prints the completion script of a shell. */
export const completion = flagCommand({
  flags: {},
  help: {
    usage: "wave completion {bash | zsh | fish}",
    description: "Print the script that lets a shell complete commands, flags, their values, namespaces and workloads.",
    examples: [
      ["source <(wave completion bash)", "in ~/.bashrc"],
      ["source <(wave completion zsh)", "in ~/.zshrc, after compinit"],
      ["wave completion fish | source", "in ~/.config/fish/config.fish"],
    ],
    details: ['kubectl completes "kubectl wave" if kubectl_complete-wave is also in the PATH.'],
  },
  run: async ({ positionals, terminal }) => {
    const [name, ...more] = positionals;
    const shell = shells.find((each) => each === name);
    if (shell === undefined || more.length > 0) {
      const known = formatList(shells, shells.length, (each) => each).replace(" and ", " or ");
      const written = positionals.join(" ");
      throw new UsageError(
        name === undefined ? argumentErrorTexts.noShell(known) : argumentErrorTexts.unknownShell(written, known),
      );
    }
    terminal.write(scripts[shell]);
    return exitCodes.done;
  },
});

/**
 * Runs `wave __complete WORD...` for shells: prints the candidates for the last word, one per line, with a tab before the meaning. The last
 * line is a directive in the numbers of cobra, which kubectl also understands
 * (https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md).
 */
export async function complete(
  words: readonly string[],
  wave: Omit<Completable, "namesOf" | "otherKinds">,
  terminal: Terminal,
): Promise<number> {
  const { offered, files, continues } = await candidatesFor(words, {
    ...wave,
    namesOf: (query) => namesOf(query, terminal),
    otherKinds: (line) => otherKinds(line, terminal),
  });
  const lines = offered.map(({ word, means }) =>
    means === undefined ? printable(word) : `${printable(word)}\t${printable(means)}`,
  );
  const directive = files ? filesToo : continues ? noFiles | noSpace : noFiles;
  terminal.write([...lines, `:${directive}`].map((line) => `${line}\n`).join(""));
  return exitCodes.done;
}

const filesToo = 0;
const noSpace = 2;
const noFiles = 4;
