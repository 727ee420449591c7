// Completion for shells. This folder knows the flags and kinds of commands, and reads only names from the cluster.
import { formatList } from "../../domain/syntax/names.ts";
import { printable } from "../../lib/printable.ts";
import { argumentErrorTexts, exitCodes } from "../command/command.ts";
import { flagCommand } from "../command/help.ts";
import { UsageError } from "../flags/flag-types.ts";
import { joined } from "../output/table.ts";
import { type Completable, candidatesFor } from "./candidates.ts";

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
export async function complete(words: readonly string[], wave: Completable): Promise<number> {
  const { offered, files, continues } = await candidatesFor(words, wave);
  const lines = offered.map(({ word, means }) =>
    means === undefined ? printable(word) : `${printable(word)}\t${printable(means)}`,
  );
  const directive = files ? filesToo : continues ? noFiles | noSpace : noFiles;
  wave.terminal.write(joined([...lines, `:${directive}`]));
  return exitCodes.done;
}

const filesToo = 0;
const noSpace = 2;
const noFiles = 4;

/** The shells with a completion script. */
export const shells = ["bash", "zsh", "fish"] as const;

/** A shell for which Wave has a completion script. */
export type Shell = (typeof shells)[number];

/** The completion scripts. A shell runs its script once; completion then calls `wave __complete`. */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for wave: source <(wave completion bash)
_wave() {
  local line=\${COMP_LINE:0:COMP_POINT} words offered directive current each
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[-1]}
  mapfile -t offered < <(wave __complete "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  ((\${#offered[@]})) || return
  directive=\${offered[-1]#:}
  unset 'offered[-1]'
  for each in "\${offered[@]}"; do
    each=\${each%%$'\\t'*}
    # Readline replaces only the text after an equals sign.
    [[ $current == *=* && $COMP_WORDBREAKS == *=* ]] && each=\${each#"\${current%%=*}="}
    COMPREPLY+=("$each")
  done
  ((directive & 2)) && compopt -o nospace
  ((directive & 4)) || compopt -o default
}
complete -F _wave wave
`,
  zsh: `#compdef wave
# zsh completion for wave: source <(wave completion zsh)
_wave() {
  local -a offered described options
  local directive each
  offered=("\${(@f)$(wave __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  directive=\${offered[-1]#:}
  offered[-1]=()
  for each in $offered; do
    described+=("\${\${each//:/\\\\:}/$'\\t'/:}")
  done
  if ((!(directive & 4))); then
    _files
    return
  fi
  ((directive & 2)) && options=(-S '')
  _describe -V wave described $options
}
compdef _wave wave
`,
  fish: `# fish completion for wave: wave completion fish | source
function __wave_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    test -z "$current"; and set current ""
    set -l offered (wave __complete $words[2..-1] $current 2>/dev/null)
    test (count $offered) -gt 0; or return
    set -l directive (string sub -s 2 -- $offered[-1])
    if test (math "bitand($directive, 4)") = 0
        __fish_complete_path $current
    else
        test (count $offered) -gt 1; and printf '%s\\n' $offered[1..-2]
    end
end
complete -c wave -f -a '(__wave_complete)'
`,
};
