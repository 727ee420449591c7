{{- define "wave.labels" -}}
app.kubernetes.io/name: wave
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
