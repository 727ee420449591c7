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
