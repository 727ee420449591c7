{{- /*
A role of Wave and its binding, in all namespaces or in each of those that Wave is limited to.
Takes root (the chart's context), name, and rules as text.
*/}}
{{- define "wave.permissions" -}}
{{- $root := .root }}
{{- $name := .name }}
{{- $rules := .rules }}
{{- range $namespace := $root.Values.namespaces | default (list "") }}
{{- $kind := ternary "Role" "ClusterRole" (ne $namespace "") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "wave.labels" $root | nindent 4 }}
rules:
  {{- $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "wave.labels" $root | nindent 4 }}
{{ include "wave.bound" (dict "root" $root "kind" $kind "name" $name) }}
{{- end }}
{{- end }}

{{- /* What a binding binds: a role of this kind and name to Wave's service account. */}}
{{- define "wave.bound" -}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .root.Release.Name }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
