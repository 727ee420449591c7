import type { FlagValue } from "./flag-values.ts";

/**
 * templates/_flags.tpl: `run` and its flags, one for each value that differs from what Wave does without it. Flags
 * of the webhooks and of the election are left out with these, because Wave refuses what has no effect.
 */
export function flagsTemplate(values: readonly FlagValue[], head: string): string {
  const rows = values.map(
    ({ flag, path, left, expression }) =>
      `  (list ${JSON.stringify(flag)} ${JSON.stringify(left)} (${expression ?? `.Values.${path}`}))`,
  );
  return `{{- /* ${head} */}}
{{- define "wave.flags" -}}
{{- $off := list }}
{{- if not .Values.webhooks.enabled }}{{ $off = append $off "webhook-" }}{{ end }}
{{- if not .Values.leaderElection.enabled }}{{ $off = append $off "leader-election-" }}{{ end }}
{{- $flags := list "run" }}
{{- range list
${rows.join("\n")}
}}
{{- $flag := index . 0 }}
{{- $text := include "wave.text" (index . 2) }}
{{- $dropped := has $text (list "" (index . 1)) }}
{{- range $off }}{{ if hasPrefix . $flag }}{{ $dropped = true }}{{ end }}{{ end }}
{{- if not $dropped }}{{ $flags = append $flags (printf "--%s=%s" $flag $text) }}{{ end }}
{{- end }}
{{- toYaml $flags }}
{{- end }}
{{- /* A value as a flag takes it: a list with commas between. Numbers as they were written, which Go's %v does not do. */}}
{{- define "wave.text" -}}
{{- if kindIs "slice" . }}{{ join "," . }}
{{- else if kindIs "string" . }}{{ . }}
{{- else if not (kindIs "invalid" .) }}{{ toJson . }}
{{- end }}
{{- end }}
`;
}
