{{- /* The name prefix of all objects: the name of the release. */}}
{{- define "wave.fullname" -}}
{{- $after := .Values.nameOverride | default "" }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains $after .Release.Name }}{{ .Release.Name }}
{{- else }}{{ printf "%s-%s" .Release.Name $after | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* Labels that never change, because the selector of a Deployment is immutable. */}}
{{- define "wave.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "wave" | toYaml }}
app.kubernetes.io/instance: {{ toYaml .Release.Name }}
{{- end }}

{{- /* Labels of all objects. Labels of the chart override commonLabels. */}}
{{- define "wave.labels" -}}
{{- $own := dict "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service }}
{{- mergeOverwrite (dict) (.Values.commonLabels | default dict) $own (include "wave.selector" . | fromYaml) | toYaml }}
{{- end }}

{{- /*
The metadata of an object in the namespace of the release. Takes the context of the chart, or root and name. `toYaml` quotes names
such as `no` and `123`.
*/}}
{{- define "wave.metadata" -}}
{{- $root := .root | default . -}}
name: {{ .name | default (include "wave.fullname" $root) | toYaml }}
namespace: {{ toYaml $root.Release.Namespace }}
labels:
  {{- include "wave.labels" $root | nindent 2 }}
{{- end }}

{{- define "wave.account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "wave.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* Name of the webhook Service and of the MutatingWebhookConfiguration. */}}
{{- define "wave.webhook" -}}
{{- .Values.webhooks.serviceName | default (printf "%s-webhook" (include "wave.fullname" .)) }}
{{- end }}

{{- /* Name of the Secret with notify.config. */}}
{{- define "wave.notify" -}}
{{- printf "%s-notify" (include "wave.fullname" .) }}
{{- end }}

{{- /* Path of the file for --notify; empty if notifications are off. */}}
{{- define "wave.notifyFile" -}}
{{- if .Values.notify.config }}/notify/notify.json
{{- else if .Values.notify.existingSecret }}/notify/notify.yaml
{{- end }}
{{- end }}

{{- define "wave.lease" -}}
{{- .Values.leaderElection.id | default (include "wave.fullname" .) }}
{{- end }}

{{- define "wave.leaseNamespace" -}}
{{- .Values.leaderElection.namespace | default .Release.Namespace }}
{{- end }}

{{- /* "true" if certificates come from files, so that Wave needs no authority Secret; otherwise empty. */}}
{{- define "wave.tlsDirectory" -}}
{{- if or .Values.webhooks.certManager.enabled .Values.webhooks.tlsDirectory }}true{{ end }}
{{- end }}

{{- /* The port of an address such as :8080; empty if it is off. */}}
{{- define "wave.port" -}}
{{- regexFind "[0-9]+$" (regexFind ":[0-9]+$" (toString .)) }}
{{- end }}
