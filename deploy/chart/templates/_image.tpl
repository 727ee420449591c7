{{- /*
What Wave runs from. A values file of Wave 0.11 names the image of that time, which this chart cannot run: its public name and
its tags are passed over, and NOTES.txt says so.
*/}}
{{- define "wave.image" -}}
{{- $image := .Values.image }}
{{- $old := include "wave.oldImage" . }}
{{- $repository := $image.repository }}
{{- if and $image.name (eq $repository "wave") (ne $image.name "quay.io/wave-k8s/wave") }}{{ $repository = $image.name }}{{ end }}
{{- $tag := $image.tag }}
{{- if or (not $tag) $old }}{{ $tag = .Chart.AppVersion }}{{ end }}
{{- if $image.digest }}{{ $repository }}@{{ $image.digest }}{{ else }}{{ $repository }}:{{ $tag }}{{ end }}
{{- end }}

{{- /* "true" where the tag is one of Wave up to 0.11. */}}
{{- define "wave.oldImage" -}}
{{- if regexMatch "^v0\\.([0-9]|1[01])\\.[0-9]+" (toString .Values.image.tag) }}true{{ end }}
{{- end }}

{{- /* By their names too, as charts of one parent may have them. */}}
{{- define "wave.imagePullSecrets" -}}
{{- $secrets := list }}
{{- range concat (.Values.global.imagePullSecrets | default list) (.Values.imagePullSecrets | default list) }}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) }}
{{- end }}
{{- with $secrets | uniq }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
