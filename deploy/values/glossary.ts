/** Where a term appears, by its exact name there. */
export interface Appearances {
  /** Flags of `wave run`, without dashes. */
  readonly flags?: readonly string[];
  /** Annotations, without the prefix `wave.pusher.com/`. */
  readonly annotations?: readonly string[];
  /** Commands of the CLI. */
  readonly commands?: readonly string[];
  /** Reasons of Events. */
  readonly events?: readonly string[];
  /** Values of the label `outcome` of `wave_outcomes_total`, which are also the outcomes of a plan and of the log. */
  readonly outcomes?: readonly string[];
  /** Values of the label `state` of `wave_workloads`. */
  readonly states?: readonly string[];
  /** Values of the label `reason` of `wave_held_workloads`, which are also the holds of commands and Events. */
  readonly holds?: readonly string[];
  /** States of `wave list`, `explain` and `wait`. */
  readonly listed?: readonly string[];
  /** Metrics. */
  readonly metrics?: readonly string[];
}

/** A term of Wave: one word for one concept in flags, annotations, metrics, Events, commands, docs and code. */
export interface GlossaryTerm {
  readonly term: string;
  readonly definition: string;
  readonly appears?: Appearances;
}

/** The vocabulary of Wave, by the alphabet. contributing/glossary.md is made from it. */
export const glossary: readonly GlossaryTerm[] = [
  {
    term: "alert gate",
    definition:
      "The check whether an alert of Prometheus with the label `wave_gate` fires in a namespace. The alert holds rollouts, and one that begins during a rollout is its failure.",
    appears: {
      flags: ["gate-prometheus-url", "gate-prometheus-token-file", "gate-prometheus-ca-file", "gate-required"],
      holds: ["alert", "alertsUnknown"],
      metrics: ["wave_gate_prometheus_answers", "wave_gate_queries_total"],
    },
  },
  {
    term: "approve",
    definition: "Allow the rollout of one hash. With `mode: approve` each rollout waits for it.",
    appears: { commands: ["approve"], annotations: ["approved", "mode"], holds: ["approval"] },
  },
  {
    term: "batch",
    definition:
      "The workloads of a namespace that roll at the same time because the same ConfigMap or Secret changed. The first batch is the canary.",
    appears: { annotations: ["batches"], flags: ["max-concurrent-rollouts"], holds: ["batch"] },
  },
  {
    term: "behind",
    definition:
      "The hash is current, but Kubernetes keeps old Pods: the workload is paused, updates only `OnDelete`, or has a partition.",
    appears: { listed: ["behind"] },
  },
  {
    term: "bug",
    definition: "Wave failed to plan a workload. The log has the stack.",
    appears: { outcomes: ["bug"], states: ["bug"] },
  },
  {
    term: "canary",
    definition:
      "The first batch of a change. The other workloads follow when its rollout is complete and stays complete for the soak time.",
    appears: { flags: ["soak"] },
  },
  {
    term: "cause",
    definition:
      "When and why Wave started a rollout: the reason, the last edits and what held it, with digits of its hash. Kubernetes copies it to the revision. Each leader can report from it how the rollout ends. Short digests of what the hash covers let a leader that did not see an edit name its keys.",
    appears: {
      annotations: ["cause", "config-digests"],
      events: ["RolloutComplete", "RolloutFailed", "RolloutResolved"],
    },
  },
  {
    term: "clean up",
    definition: "Remove a scheduling hold, or resume a Deployment that Reloader left paused. No workload is rolled.",
    appears: { outcomes: ["cleanUp"], events: ["SchedulingEnabled", "Unpaused"] },
  },
  {
    term: "cluster hold",
    definition: "An annotation on the Namespace of Wave, which a person sets in an emergency to stop every rollout.",
    appears: {
      commands: ["hold", "release"],
      annotations: ["hold-cluster"],
      holds: ["clusterHold"],
      metrics: ["wave_cluster_hold"],
    },
  },
  {
    term: "compatibility",
    definition: "Support for the annotations of SAP's pod-reloader or Stakater's Reloader next to Wave's own.",
    appears: { flags: ["compatibility"] },
  },
  {
    term: "configuration",
    definition:
      "Everything that the Pods of a workload read from ConfigMaps, Secrets and SecretProviderClasses, as digests. Keys that the Pods do not read are not included.",
  },
  {
    term: "conflict",
    definition: "Another client changed the workload while Wave planned it. Wave plans it again at once.",
    appears: { outcomes: ["conflict"] },
  },
  {
    term: "consecutive rollouts",
    definition:
      "Rollouts of one workload without a quiet time between them: twice the last interval, at least 10 minutes. Each rollout doubles the interval before the next one, up to 1 hour.",
    appears: {
      annotations: ["consecutive-rollouts"],
      events: ["ConfigurationFlaps"],
    },
  },
  {
    term: "current",
    definition: "The recorded hash matches the configuration. Nothing is due.",
    appears: { states: ["current"], listed: ["current"] },
  },
  {
    term: "due",
    definition: "Wave has something to write for a workload now.",
    appears: { states: ["due"], listed: ["due"] },
  },
  {
    term: "exclude",
    definition: "Do not track a ConfigMap or Secret for one workload, although the workload reads it.",
    appears: { annotations: ["exclude-configmaps", "exclude-secrets"] },
  },
  {
    term: "extra configuration",
    definition: "ConfigMaps and Secrets that a workload reads in another way than through its pod template.",
    appears: {
      annotations: ["extra-configmaps", "extra-secrets", "shared-with"],
      flags: ["cross-namespace"],
      events: ["CrossNamespaceRefused"],
    },
  },
  {
    term: "failed",
    definition:
      "No new Pod of a rollout became ready within the rollout timeout, or Kubernetes reports that the rollout made no progress. Or a container of a canary restarted three times, or an alert began to fire.",
    appears: { listed: ["failed"], flags: ["rollout-timeout"], annotations: ["failed-alert"] },
  },
  {
    term: "first hash",
    definition:
      "The hash that Wave adds to a workload without a hash. It restarts the Pods that may read an earlier configuration.",
    appears: { outcomes: ["firstHash"], events: ["ConfigHashAdded"] },
  },
  {
    term: "first sight",
    definition:
      "The moment when Wave first plans a running workload that has no hash: it rolls the workload, or records its configuration.",
    appears: { flags: ["first-sight"], annotations: ["first-sight"] },
  },
  {
    term: "halted",
    definition: "A change stops before it reaches the remaining workloads, because workloads failed with this change.",
    appears: {
      holds: ["halted"],
      events: ["RolloutHalted"],
      flags: ["halt-after-failures"],
      metrics: ["wave_rollouts_halted"],
    },
  },
  {
    term: "hash",
    definition:
      "SHA-256 over the keys that the Pods read and their digests: `v2:` and 64 hexadecimal digits, in an annotation of the pod template.",
    appears: { annotations: ["config-hash", "rotate-hash-key"], flags: ["hash-key-secret"] },
  },
  {
    term: "held",
    definition: "Something is due, but a hold prevents it now. `wave list` shows the reason.",
    appears: {
      outcomes: ["held"],
      states: ["held"],
      listed: ["held"],
      events: ["RolloutHeld"],
      metrics: ["wave_held_workloads"],
    },
  },
  {
    term: "hold",
    definition:
      "An annotation on a workload, Namespace, ConfigMap or Secret, which a person sets to stop rollouts. More generally, any reason why a due rollout waits.",
    appears: {
      commands: ["hold", "release"],
      annotations: ["hold", "hold-reason"],
      holds: ["hold"],
      events: ["AnnotationsKept", "AnnotationsLost"],
    },
  },
  {
    term: "ignored",
    definition: "A workload that has not opted in, or that is being deleted.",
    appears: { states: ["ignore"], listed: ["ignored"] },
  },
  {
    term: "interval",
    definition: "The minimum time between two rollouts of one workload.",
    appears: { holds: ["interval"], annotations: ["min-interval"] },
  },
  {
    term: "invalid",
    definition:
      "The value of an annotation cannot be read. An annotation that controls the time of rollouts then holds the workload.",
    appears: { holds: ["invalid"], events: ["InvalidAnnotation", "ConfigurationMissing", "OldFinalizer"] },
  },
  {
    term: "leader",
    definition: "The replica that holds the Lease. Only the leader writes to workloads.",
    appears: { flags: ["leader-election"], metrics: ["wave_leader"] },
  },
  {
    term: "limit",
    definition: "The maximum size of one object or workload. Wave does not roll a workload that exceeds a limit.",
    appears: { outcomes: ["overLimit"], states: ["overLimit"], listed: ["overLimit"], events: ["OverLimit"] },
  },
  {
    term: "live configuration",
    definition: "The content that ConfigMaps and Secrets have now. Pods that are not pinned read it.",
    appears: { annotations: ["live-configmaps"] },
  },
  {
    term: "mixed Pod",
    definition:
      "A Pod that may run configuration that was reverted, because a container of the Pod started while the configuration differed.",
    appears: {
      annotations: ["config-differed", "rolled-at"],
    },
  },
  {
    term: "observe",
    definition: "Report what is due and write nothing.",
    appears: { flags: ["observe"], annotations: ["mode"], holds: ["observed"] },
  },
  {
    term: "opt in",
    definition: 'Set `wave.pusher.com/update-on-config-change: "true"` on a workload or its Namespace.',
    appears: { annotations: ["update-on-config-change"] },
  },
  {
    term: "pending Pod",
    definition:
      "A Pod that Kubernetes has not scheduled. With a scheduling hold, Pods stay pending until required configuration exists.",
  },
  {
    term: "pin",
    definition:
      "Let the Pods of a revision read stored copies of their ConfigMaps, so that a later edit reaches them only by a rollout.",
    appears: { flags: ["pin-config"], annotations: ["pin-config", "pinned"] },
  },
  {
    term: "pinned copy",
    definition: "An immutable ConfigMap that Wave stores with the content that a revision reads.",
    appears: {
      annotations: ["pinned-copy", "copy-of", "edited-by", "unused-since"],
      commands: ["history"],
      events: ["PinsKept", "PinnedCopiesOverLimit", "PinnedCopyLost"],
    },
  },
  {
    term: "plan",
    definition:
      "The next action of Wave for a workload, with the reason. The controller, the webhooks and the commands use the same function.",
    appears: { commands: ["explain"] },
  },
  {
    term: "priority",
    definition: "The order in which the workloads of a change roll. A higher number rolls earlier.",
    appears: { annotations: ["priority"] },
  },
  {
    term: "progressing",
    definition: "The previous rollout of a workload is not complete yet.",
    appears: { holds: ["progressing"] },
  },
  {
    term: "recorded",
    definition: "Wave recorded the current configuration as the one that the Pods run, without a restart.",
    appears: { outcomes: ["recorded"], events: ["ConfigRecorded"], annotations: ["recorded-config"] },
  },
  {
    term: "refused",
    definition:
      "The API server, or a webhook that it calls, rejected Wave's write. Wave tries again with growing delays.",
    appears: { outcomes: ["refused"], states: ["refused"], events: ["RolloutRefused"] },
  },
  {
    term: "replacement record",
    definition: "A suspended Job that stores another Job while Wave recreates it. It runs no Pods.",
    appears: { annotations: ["job-replacement", "replaced-job"] },
  },
  {
    term: "request",
    definition: "A person's wish to roll one workload now. It ends waits, but no hold that a person set.",
    appears: { commands: ["roll"], annotations: ["roll-requested"] },
  },
  {
    term: "resume",
    definition: "Continue a halted change. Wave ignores the failures until now.",
    appears: { commands: ["resume"], annotations: ["resumed"] },
  },
  {
    term: "return",
    definition:
      "Go back to the pinned configuration before a rollout that failed. Wave then does not roll to the rejected content again.",
    appears: { annotations: ["on-failure", "previous-pins"], events: ["RolloutReturned"] },
  },
  {
    term: "reverted",
    definition:
      "Another client removed or replaced the hash that Wave wrote. Wave writes the hash again, with growing delays.",
    appears: { holds: ["reverted"] },
  },
  {
    term: "revision",
    definition: "A pod template of a workload that Kubernetes keeps as a ReplicaSet or ControllerRevision.",
    appears: { commands: ["history"] },
  },
  {
    term: "roll",
    definition:
      "Write a new hash, so that Kubernetes replaces the Pods with the update strategy of the workload. The noun is rollout.",
    appears: {
      outcomes: ["roll", "complete", "failed", "resolved"],
      events: ["ConfigChanged"],
      metrics: ["wave_change_to_patch_seconds"],
    },
  },
  {
    term: "rolled back",
    definition:
      "A person undid a rollout. Pods read the earlier content, and Wave does not roll to the rejected content again.",
    appears: { annotations: ["rejected-configmaps"], listed: ["rolledBack"], events: ["RolledBack"] },
  },
  {
    term: "rolled incomplete",
    definition:
      "A workload was not complete when Wave rolled it. The failure of this rollout does not show that the change is bad, so it halts no other workload. A StatefulSet in this state may need a person.",
    appears: { annotations: ["rolled-incomplete"], events: ["RolloutBlocked"] },
  },
  { term: "rolling", definition: "Kubernetes is replacing the Pods of a workload.", appears: { listed: ["rolling"] } },
  {
    term: "scheduling hold",
    definition:
      "An invalid scheduler name in the pod template. It keeps new Pods pending while required configuration is missing.",
    appears: {
      flags: ["scheduling-hold"],
      annotations: ["scheduling-disabled", "scheduling-hold"],
      events: ["SchedulingDisabled", "SchedulingEnabled", "SchedulingHoldExpired"],
    },
  },
  {
    term: "SecretProviderClass version",
    definition: "The version of a secret that the Secrets Store CSI driver mounted in a Pod, as the driver reports.",
    appears: { annotations: ["secret-provider-classes"], flags: ["enable-csi-integration"] },
  },
  {
    term: "settle",
    definition: "Wait for a short time after the last change, so that several edits become one rollout.",
    appears: { flags: ["settle"], annotations: ["settle"], holds: ["settling"] },
  },
  {
    term: "soak",
    definition: "How long the canary must stay complete before the other workloads follow.",
    appears: { flags: ["soak"] },
  },
  {
    term: "stuck",
    definition:
      "A new Pod of the last rollout does not start for a reason outside of its configuration: it is unschedulable, exceeds a quota, or lacks its image or a volume. The batch waits.",
    appears: {
      outcomes: ["stuck"],
      listed: ["stuck"],
      events: ["RolloutStuck"],
      metrics: ["wave_rollouts_stuck"],
    },
  },
  {
    term: "template source",
    definition: "The Deployment whose pod template a Rollout uses through `workloadRef`.",
    appears: { annotations: ["workload-ref-hash", "allow-workload-ref"] },
  },
  {
    term: "unavailable",
    definition: "The API server could not answer a write. Wave tries again.",
    appears: { outcomes: ["unavailable"] },
  },
  {
    term: "unknown",
    definition: "A command could not read something that its answer depends on.",
    appears: { listed: ["unknown"] },
  },
  {
    term: "unpinned",
    definition: "A Pod that reads live configuration, although the pod template of its workload names pinned copies.",
    appears: { events: ["Unpinned"] },
  },
  {
    term: "unproven",
    definition:
      "Wave recorded the current configuration, but the Pods may read an earlier one: they were not created after its last change.",
    appears: {
      states: ["unproven"],
      listed: ["unproven"],
      events: ["ConfigUnproven"],
      annotations: ["recorded-config"],
    },
  },
  {
    term: "validator",
    definition:
      "A Deployment whose Pods only check the configuration. After a change, it rolls before all other workloads.",
    appears: {
      annotations: ["validator", "validator-required"],
      holds: ["validator"],
      events: ["NotValidated"],
    },
  },
  {
    term: "verdict",
    definition:
      "The state of a workload as the leader published it, for readers without permission to read what the state depends on.",
    appears: { annotations: ["state"] },
  },
  {
    term: "waiting",
    definition: "A required ConfigMap, Secret or key is missing. Wave writes nothing until it exists.",
    appears: { outcomes: ["waiting"], states: ["waiting"], listed: ["waiting"], events: ["ConfigMissing"] },
  },
  {
    term: "window",
    definition: "The times at which a workload may be rolled.",
    appears: { flags: ["window"], annotations: ["window"], holds: ["window"] },
  },
  {
    term: "workload",
    definition: "A Deployment, StatefulSet or DaemonSet, or an object of a kind that `--workload-kinds` names.",
    appears: { flags: ["workload-kinds"] },
  },
  {
    term: "write permit",
    definition:
      "The permission for one write. Wave grants write permits at the rate `--update-rate`, to rollouts first, and to one namespace after the other.",
    appears: { flags: ["update-rate", "update-burst"], metrics: ["wave_write_permits_waiting"] },
  },
];
