{{- /* What objects are named after: the release, because a second Wave is a second release. */}}
{{- define "wave.fullname" -}}
{{- $after := .Values.nameOverride | default "" }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains $after .Release.Name }}{{ .Release.Name }}
{{- else }}{{ printf "%s-%s" .Release.Name $after | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* What never changes of a Wave that is installed: a Deployment's selector cannot. */}}
{{- define "wave.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "wave" | toYaml }}
app.kubernetes.io/instance: {{ toYaml .Release.Name }}
{{- end }}

{{- /* Labels of every object; those of the chart win. */}}
{{- define "wave.labels" -}}
{{- $own := dict "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service }}
{{- mergeOverwrite (dict) (.Values.commonLabels | default dict) $own (include "wave.selector" . | fromYaml) | toYaml }}
{{- end }}

{{- /*
The metadata of an object in the release's namespace. Takes the chart's context, or root and name. Names are written by toYaml,
here and elsewhere, which quotes `no` and `123`: those are names too.
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

{{- /* Of the webhook's Service and configuration. */}}
{{- define "wave.webhook" -}}
{{- .Values.webhooks.serviceName | default (printf "%s-webhook" (include "wave.fullname" .)) }}
{{- end }}

{{- /* Of the Secret with notify.config. */}}
{{- define "wave.notify" -}}
{{- printf "%s-notify" (include "wave.fullname" .) }}
{{- end }}

{{- /* The file of --notify; nothing where it is off. */}}
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

{{- /* Whether certificates come from files, so that Wave keeps no authority: "true" or nothing. */}}
{{- define "wave.tlsDirectory" -}}
{{- if or .Values.webhooks.certManager.enabled .Values.webhooks.tlsDirectory }}true{{ end }}
{{- end }}

{{- /* The port of an address such as :8080; nothing where it is off. */}}
{{- define "wave.port" -}}
{{- regexFind "[0-9]+$" (regexFind ":[0-9]+$" (toString .)) }}
{{- end }}
