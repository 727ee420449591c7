{{- /*
The image of Wave. A values file of Wave 0.11 names an image that this chart does not support. The chart ignores its public name and
its tags, and NOTES.txt reports that.
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

{{- /* "true" if the tag belongs to Wave 0.11 or earlier. */}}
{{- define "wave.oldImage" -}}
{{- if regexMatch "^v0\\.([0-9]|1[01])\\.[0-9]+" (toString .Values.image.tag) }}true{{ end }}
{{- end }}

{{- /* Pull secrets, as names or as objects. */}}
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
