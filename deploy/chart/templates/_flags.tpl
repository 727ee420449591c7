{{- /* Made by `npm run chart` from deploy/values, and from the flags of src/cli/flags/run-flags.ts. */}}
{{- define "wave.flags" -}}
{{- $off := list }}
{{- if not .Values.webhooks.enabled }}{{ $off = append $off "webhook-" }}{{ end }}
{{- if not .Values.leaderElection.enabled }}{{ $off = append $off "leader-election-" }}{{ end }}
{{- $flags := list "run" }}
{{- range list
  (list "kubeconfig" "" (.Values.kubeconfig))
  (list "context" "" (.Values.context))
  (list "namespaces" "" (.Values.namespaces))
  (list "cross-namespace" "granted" (.Values.crossNamespace))
  (list "first-sight" "" (.Values.firstSight))
  (list "update-rate" "10" (.Values.updateRate | toString | eq "0" | ternary "unlimited" .Values.updateRate))
  (list "update-burst" "100" (.Values.updateBurst))
  (list "hash-key-secret" "" (.Values.hashKeySecret | empty | ternary "" (printf "%s/%s" .Release.Namespace .Values.hashKeySecret)))
  (list "workload-kinds" "" (.Values.workloadKinds))
  (list "sync-period" "5m" (.Values.syncPeriod))
  (list "owner-references" "false" (.Values.ownerReferences))
  (list "migrate-legacy" "false" (.Values.migrateLegacy))
  (list "settle" "1s" (.Values.settle))
  (list "settle-max" "10s" (.Values.settleMax))
  (list "max-concurrent-rollouts" "50" (.Values.maxConcurrentRollouts))
  (list "canary-size" "1" (.Values.canarySize))
  (list "soak" "10s" (.Values.soak))
  (list "halt-after-failures" "3" (.Values.haltAfterFailures))
  (list "rollout-timeout" "10m" (.Values.rolloutTimeout))
  (list "window" "" (.Values.window))
  (list "observe" "false" (.Values.observe))
  (list "compatibility" "" (.Values.compatibility))
  (list "auto-reload-all" "false" (.Values.autoReloadAll))
  (list "reload-on-create" "false" (.Values.reloadOnCreate))
  (list "reload-on-delete" "false" (.Values.reloadOnDelete))
  (list "namespaces-to-ignore" "" (.Values.namespacesToIgnore))
  (list "namespace-selector" "" (.Values.namespaceSelector))
  (list "resource-label-selector" "" (.Values.resourceLabelSelector))
  (list "resources-to-ignore" "" (.Values.resourcesToIgnore))
  (list "enable-csi-integration" "false" (.Values.enableCsiIntegration))
  (list "metrics-bind-address" ":8080" (.Values.metricsBindAddress))
  (list "health-probe-bind-address" ":8081" (.Values.healthProbeBindAddress))
  (list "log-format" "" (.Values.logFormat))
  (list "log-level" "info" (.Values.logLevel))
  (list "notify" "" (include "wave.notifyFile" .))
  (list "enable-webhooks" "false" (.Values.webhooks.enabled))
  (list "webhook-bind-address" ":9443" (.Values.webhooks.bindAddress))
  (list "webhook-tls-directory" "" (.Values.webhooks.certManager.enabled | ternary "/certificates" .Values.webhooks.tlsDirectory))
  (list "webhook-client-ca-file" "" (.Values.webhooks.clientCaFile))
  (list "webhook-service-name" "wave-webhook" (include "wave.webhook" .))
  (list "scheduling-hold" "true" (.Values.schedulingHold))
  (list "leader-election" "false" (.Values.leaderElection.enabled))
  (list "leader-election-id" "wave" (include "wave.lease" .))
  (list "leader-election-namespace" "" (.Values.leaderElection.namespace))
  (list "leader-election-lease-duration" "15s" (.Values.leaderElection.leaseDuration))
  (list "leader-election-renew-deadline" "10s" (.Values.leaderElection.renewDeadline))
  (list "leader-election-retry-period" "2s" (.Values.leaderElection.retryPeriod))
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
