{{- /*
The kinds of the value workloadKinds, as JSON: `{"kinds": [{"group": …, "version": "*", "plural": …, "path": "spec.template"}]}`, in the
form of the flag of `wave run` (src/domain/model/kinds/requested-kind.ts).
*/}}
{{- define "wave.kinds" -}}
{{- $kinds := list }}
{{- range .Values.workloadKinds }}
{{- $name := regexReplaceAll "=.*$" . "" }}
{{- $usual := regexMatch "^(cronjobs[.]batch|batch/v1/cronjobs)$" . | ternary "spec/jobTemplate/spec/template" "spec/template" }}
{{- $path := contains "=" . | ternary (regexReplaceAll "^[^=]*=/" . "") $usual }}
{{- $parts := splitList "/" $name }}
{{- if eq (len $parts) 1 }}
{{- $parts = list (regexReplaceAll "^[^.]*[.]" $name "") "*" (regexReplaceAll "[.].*$" $name "") }}
{{- end }}
{{- $kinds = append $kinds (dict "group" (index $parts 0) "version" (index $parts 1) "plural" (index $parts 2) "path" (replace "/" "." $path)) }}
{{- end }}
{{- dict "kinds" $kinds | toJson }}
{{- end }}
