{{- /*
A role of Wave and its binding, in all namespaces or in each watched one.
Takes root (the context of the chart), name, and rules as text, and for a hook also hook, its account.
*/}}
{{- define "wave.permissions" -}}
{{- range .root.Values.namespaces | default (list "") }}
{{ include "wave.role" (dict "root" $.root "name" $.name "rules" $.rules "namespace" . "hook" $.hook) }}
{{- end }}
{{- end }}

{{- /* A Role and its binding in a namespace; a ClusterRole and its binding if namespace is empty. Takes root, name, rules, namespace, and for a hook its account as hook. */}}
{{- define "wave.role" -}}
{{- if .root.Values.global.rbac.enabled }}
{{- $kind := ternary "Role" "ClusterRole" (ne .namespace "") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  {{- include "wave.roleMetadata" . | nindent 2 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  {{- include "wave.roleMetadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ toYaml .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .hook | default (include "wave.account" .root) | toYaml }}
    namespace: {{ toYaml .root.Release.Namespace }}
{{- end }}
{{- end }}

{{- define "wave.roleMetadata" -}}
name: {{ toYaml .name }}
{{- with .namespace }}
namespace: {{ toYaml . }}
{{- end }}
labels:
  {{- include "wave.labels" .root | nindent 2 }}
{{- if .hook }}
{{ include "wave.uninstallHook" "-10" }}
{{- end }}
{{- end }}
