import type { FlagValue } from "./flag-values.ts";

/**
 * Returns templates/_flags.tpl: `run` and one flag for each value that differs from the default of the flag. It omits the flags of
 * webhooks and leader election if these are off, because Wave rejects flags without effect.
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
{{- /* A value in the form of its flag: lists with commas, numbers as they were written, which Go's %v does not keep. */}}
{{- define "wave.text" -}}
{{- if kindIs "slice" . }}{{ join "," . }}
{{- else if kindIs "string" . }}{{ . }}
{{- else if not (kindIs "invalid" .) }}{{ toJson . }}
{{- end }}
{{- end }}
`;
}
