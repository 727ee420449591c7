/** Series in the notation of promtool: values by minute, "0x9" is ten times 0. */
type Series = Readonly<Record<string, string>>;

/** The conditions under which one alert fires and does not fire. */
export interface AlertCase {
  /** The alert fires after this many minutes, with these labels in addition to its severity and with this summary. */
  readonly fires: {
    readonly series: Series;
    readonly afterMinutes: number;
    readonly labels: Readonly<Record<string, string>>;
    readonly summary: string;
  };
  /** Scenes in which the alert never fires. */
  readonly quiet: readonly Series[];
}

const wave = 'namespace="wave",job="wave"';
const pod = 'namespace="wave",job="wave",pod="wave-0"';
const ofJob = { namespace: "wave", job: "wave" };
const ofPod = { namespace: "wave", pod: "wave-0" };
const failOpen =
  'apiserver_admission_webhook_fail_open_count{name="workloads.wave.pusher.com",type="admit",job="apiserver"}';

/** One case for each alert, by the name of the alert. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  WaveHasNoLeader: {
    fires: {
      series: { [`wave_leader{${pod}}`]: "1x4 0x20", 'wave_leader{namespace="wave",job="wave",pod="wave-1"}': "0x24" },
      afterMinutes: 8,
      labels: ofJob,
      summary: "Wave in wave has no leader and rolls no workload. Check its Pods and its Lease.",
    },
    quiet: [
      // A change of leader takes 15 s, and a scrape may or may not observe it.
      { [`wave_leader{${pod}}`]: "1x5 0x30", 'wave_leader{namespace="wave",job="wave",pod="wave-1"}': "0x6 1x29" },
    ],
  },
  WaveCannotReachTheApiServer: {
    fires: {
      series: { [`wave_api_server_reachable{${pod}}`]: "1x4 0x20" },
      afterMinutes: 8,
      labels: ofPod,
      summary: "Pod wave-0 of Wave cannot reach the API server. Check its log for the address and the error.",
    },
    quiet: [{ [`wave_api_server_reachable{${pod}}`]: "1 1 0 1 1 0 1x30" }],
  },
  WaveIsNotSynced: {
    fires: {
      series: { [`wave_caches_synced{${pod}}`]: "0x20" },
      afterMinutes: 6,
      labels: ofPod,
      summary:
        "Pod wave-0 of Wave has not synced its caches and rolls no workload. Check /readyz for the missing resource.",
    },
    quiet: [{ [`wave_caches_synced{${pod}}`]: "0 0 1x30" }],
  },
  WaveHearsNothing: {
    fires: {
      series: { [`wave_watch_last_heard_seconds{${pod},resource="secrets"}`]: "0+60x20" },
      afterMinutes: 9,
      labels: { ...ofPod, resource: "secrets" },
      summary: "Pod wave-0 of Wave has received nothing from its watch of secrets for 9m 0s. Check its log.",
    },
    quiet: [{ [`wave_watch_last_heard_seconds{${pod},resource="secrets"}`]: "0 59 3 120 60 250 10x30" }],
  },
  WaveCannotListNamespaces: {
    fires: {
      series: { [`wave_cache_unsynced_namespaces{${pod}}`]: "2x30" },
      afterMinutes: 11,
      labels: ofJob,
      summary: "Wave in wave cannot list 2 of its namespaces and rolls no workload there. Run wave doctor.",
    },
    quiet: [{ [`wave_cache_unsynced_namespaces{${pod}}`]: "1x5 0x30" }],
  },
  WaveHashKeyProblem: {
    fires: {
      series: { [`wave_hash_key_problem{${pod}}`]: "1x30" },
      afterMinutes: 11,
      labels: ofJob,
      summary: "The Secret with the hash key of Wave in wave is missing, damaged or unreadable. Check the log of Wave.",
    },
    quiet: [{ [`wave_hash_key_problem{${pod}}`]: "1x3 0x30" }],
  },
  WaveWorkloadWaitsTooLong: {
    fires: {
      series: { [`wave_workloads_longest_seconds{${pod},state="waiting"}`]: "0+60x40" },
      afterMinutes: 20,
      labels: { ...ofJob, state: "waiting" },
      summary: "A workload has not been rolled for 20m 0s (state waiting). Run wave list -A --state waiting,overLimit.",
    },
    quiet: [
      { [`wave_workloads_longest_seconds{${pod},state="waiting"}`]: "0+60x14 0x30" },
      { [`wave_workloads_longest_seconds{${pod},state="held"}`]: "0+60x60" },
    ],
  },
  WaveRolloutHeldTooLong: {
    fires: {
      series: { [`wave_held_workloads_longest_seconds{${pod},reason="batch"}`]: "0+60x90" },
      afterMinutes: 65,
      labels: { ...ofJob, reason: "batch" },
      summary:
        "A rollout has been held for 1h 5m 0s (reason batch), longer than expected. Run wave list -A --state held.",
    },
    quiet: [
      { [`wave_held_workloads_longest_seconds{${pod},reason="window"}`]: "0+60x90" },
      { [`wave_held_workloads_longest_seconds{${pod},reason="hold"}`]: "0+3600x90" },
      { [`wave_held_workloads_longest_seconds{${pod},reason="settling"}`]: "0+60x50 0x40" },
    ],
  },
  WaveHoldsEveryRollout: {
    fires: {
      series: { [`wave_cluster_hold{${pod}}`]: "0 0 1x60" },
      afterMinutes: 35,
      labels: ofJob,
      summary: "A person holds every rollout of Wave in wave. When the incident is over, run wave release --cluster.",
    },
    quiet: [{ [`wave_cluster_hold{${pod}}`]: "0 1x20 0x40" }],
  },
  WaveRolloutsHalted: {
    fires: {
      series: { [`wave_rollouts_halted{${pod}}`]: "0 0 1x30" },
      afterMinutes: 5,
      labels: ofJob,
      summary:
        "Wave in wave has halted rollouts because workloads failed (halted configuration changes: 1). Run wave list -A --state held.",
    },
    quiet: [{ [`wave_rollouts_halted{${pod}}`]: "0x30" }],
  },
  WaveRolloutFailed: {
    fires: {
      series: { [`wave_rollouts_failed{${pod}}`]: "0x5 2x20" },
      afterMinutes: 8,
      labels: ofJob,
      summary:
        "Rollouts that Wave in wave watches have failed (workloads: 2), for example because new containers crash. Run wave list -A --state failed.",
    },
    quiet: [{ [`wave_rollouts_failed{${pod}}`]: "0x20 1 0x30" }],
  },
  WaveRolloutStuck: {
    fires: {
      series: { [`wave_rollouts_stuck{${pod}}`]: "0x5 1x30" },
      afterMinutes: 18,
      labels: ofJob,
      summary:
        "Rollouts that Wave in wave watches are stuck (workloads: 1), for example because no node has room. Run wave list -A --state stuck.",
    },
    quiet: [{ [`wave_rollouts_stuck{${pod}}`]: "0x5 1x8 0x30" }],
  },
  WaveConfigurationFlaps: {
    fires: {
      series: { [`wave_workloads_flapping{${pod}}`]: "0x5 2x30" },
      afterMinutes: 18,
      labels: ofJob,
      summary:
        "The configuration of some workloads of Wave in wave keeps changing (workloads: 2). Run kubectl get events -A --field-selector reason=ConfigurationFlaps, which name object, keys and field manager.",
    },
    quiet: [{ [`wave_workloads_flapping{${pod}}`]: "0x5 1x8 0x30" }],
  },
  WaveOnlyObserves: {
    fires: {
      series: {
        [`wave_held_workloads_longest_seconds{${pod},reason="observed"}`]: "86300+60x30",
        [`wave_only_observes{${pod}}`]: "1x30",
      },
      afterMinutes: 14,
      labels: ofJob,
      summary:
        "Wave in wave runs with --observe, and a rollout has been due for 1d 0h 12m 20s. Run Wave without the flag, or hold the workloads.",
    },
    // A workload with `mode: observe` may stay so forever.
    quiet: [
      {
        [`wave_held_workloads_longest_seconds{${pod},reason="observed"}`]: "90000+60x60",
        [`wave_only_observes{${pod}}`]: "0x60",
      },
    ],
  },
  WaveWritesFail: {
    fires: {
      series: {
        [`wave_workloads{${pod},state="refused"}`]: "0 3x30",
        [`wave_workloads{${pod},state="current"}`]: "9x30",
      },
      afterMinutes: 13,
      labels: { ...ofJob, state: "refused" },
      summary:
        "Wave in wave cannot write some workloads (state refused: 3). Check their Events RolloutRefused and the log of Wave.",
    },
    quiet: [
      { [`wave_workloads{${pod},state="refused"}`]: "0 1 1 1 0x30" },
      { [`wave_workloads{${pod},state="due"}`]: "5x30" },
    ],
  },
  WaveWritesGetNoAnswer: {
    fires: {
      series: {
        [`wave_outcomes_total{${pod},kind="Deployment",outcome="unavailable"}`]: "0x3 1+4x40",
        [`wave_outcomes_total{${pod},kind="Deployment",outcome="roll"}`]: "17x44",
      },
      afterMinutes: 16,
      labels: ofJob,
      summary:
        "The API server has answered no write of Wave in wave for 10 minutes. Check admission webhooks and the API server.",
    },
    quiet: [
      {
        [`wave_outcomes_total{${pod},kind="Deployment",outcome="unavailable"}`]: "0x3 1+4x40",
        [`wave_outcomes_total{${pod},kind="StatefulSet",outcome="roll"}`]: "0+1x44",
      },
    ],
  },
  WaveNotificationsFail: {
    fires: {
      series: {
        [`wave_notifications_total{${pod},receiver="on-call",result="failed"}`]: "0x3 2x40",
        [`wave_notifications_total{${pod},receiver="team",result="sent"}`]: "0+1x44",
      },
      afterMinutes: 8,
      labels: { ...ofJob, receiver: "on-call" },
      summary:
        "Wave in wave could not send notifications to the receiver on-call in the last 30 minutes. Check the log of Wave.",
    },
    quiet: [
      { [`wave_notifications_total{${pod},receiver="on-call",result="sent"}`]: "0+1x60" },
      { [`wave_notifications_total{${pod},receiver="on-call",result="failed"}`]: "7x60" },
    ],
  },
  WaveWebhookCertificateExpires: {
    fires: {
      series: { [`wave_webhook_certificate_expiration_timestamp_seconds{${pod}}`]: "0x30" },
      afterMinutes: 11,
      labels: ofPod,
      summary: "The webhook certificate of Pod wave-0 of Wave is missing or expires within three days. Check its log.",
    },
    // The time of promtool begins at 0: a certificate for four days, and a certificate that is renewed in time.
    quiet: [
      { [`wave_webhook_certificate_expiration_timestamp_seconds{${pod}}`]: "345600x30" },
      { [`wave_webhook_certificate_expiration_timestamp_seconds{${pod}}`]: "0x5 777600x30" },
    ],
  },
  WaveWebhookIsNotReached: {
    fires: {
      // The series exists from the first failed review on.
      series: { [failOpen]: "_x4 1x20" },
      afterMinutes: 8,
      labels: { name: "workloads.wave.pusher.com" },
      summary: "The API server could not reach the webhook of Wave and admitted workloads without it. Run wave doctor.",
    },
    quiet: [{ [failOpen]: "_x60" }, { [failOpen.replace("workloads.wave", "other")]: "_x4 1+1x40" }],
  },
};

/** Metrics of a healthy Wave, added to each case so that no alert fires because they are missing. */
export const inOrder: Series = { [`wave_leader{${wave},pod="in-order"}`]: "1x120" };
