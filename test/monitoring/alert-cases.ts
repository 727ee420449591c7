/** Series as promtool writes them: values by minute, "0x9" is ten times 0. */
type Series = Readonly<Record<string, string>>;

/** When one alert fires, and when it does not. */
export interface AlertCase {
  /** Fires after so many minutes, with these labels beside its severity and this summary. */
  readonly fires: {
    readonly series: Series;
    readonly afterMinutes: number;
    readonly labels: Readonly<Record<string, string>>;
    readonly summary: string;
  };
  /** Scenes in which it does not fire, whenever one looks. */
  readonly quiet: readonly Series[];
}

const wave = 'namespace="wave",job="wave"';
const pod = 'namespace="wave",job="wave",pod="wave-0"';
const ofJob = { namespace: "wave", job: "wave" };
const ofPod = { namespace: "wave", pod: "wave-0" };
const failOpen =
  'apiserver_admission_webhook_fail_open_count{name="workloads.wave.pusher.com",type="admit",job="apiserver"}';

/** A case for each alert, by its name. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  WaveHasNoLeader: {
    fires: {
      series: { [`wave_leader{${pod}}`]: "1x4 0x20", 'wave_leader{namespace="wave",job="wave",pod="wave-1"}': "0x24" },
      afterMinutes: 8,
      labels: ofJob,
      summary: "No replica of Wave in wave leads, so nothing is rolled.",
    },
    quiet: [
      // A change of leader takes 15 s, and with luck a scrape sees it.
      { [`wave_leader{${pod}}`]: "1x5 0x30", 'wave_leader{namespace="wave",job="wave",pod="wave-1"}': "0x6 1x29" },
    ],
  },
  WaveCannotReachTheApiServer: {
    fires: {
      series: { [`wave_api_server_reachable{${pod}}`]: "1x4 0x20" },
      afterMinutes: 8,
      labels: ofPod,
      summary: "Wave's wave-0 gets no answer from the API server; its log says of which address, and why.",
    },
    quiet: [{ [`wave_api_server_reachable{${pod}}`]: "1 1 0 1 1 0 1x30" }],
  },
  WaveIsNotSynced: {
    fires: {
      series: { [`wave_caches_synced{${pod}}`]: "0x20" },
      afterMinutes: 6,
      labels: ofPod,
      summary:
        "Wave's wave-0 has not listed what it has to know, so that it decides nothing; /readyz says what it waits for.",
    },
    quiet: [{ [`wave_caches_synced{${pod}}`]: "0 0 1x30" }],
  },
  WaveHearsNothing: {
    fires: {
      series: { [`wave_watch_last_heard_seconds{${pod},resource="secrets"}`]: "0+60x20" },
      afterMinutes: 9,
      labels: { ...ofPod, resource: "secrets" },
      summary: "Wave's wave-0 has heard nothing of secrets for 9m 0s.",
    },
    quiet: [{ [`wave_watch_last_heard_seconds{${pod},resource="secrets"}`]: "0 59 3 120 60 250 10x30" }],
  },
  WaveCannotListNamespaces: {
    fires: {
      series: { [`wave_cache_unsynced_namespaces{${pod}}`]: "2x30" },
      afterMinutes: 11,
      labels: ofJob,
      summary: "Wave in wave cannot list 2 of its namespaces, and decides nothing there.",
    },
    quiet: [{ [`wave_cache_unsynced_namespaces{${pod}}`]: "1x5 0x30" }],
  },
  WaveHashKeyProblem: {
    fires: {
      series: { [`wave_hash_key_problem{${pod}}`]: "1x30" },
      afterMinutes: 11,
      labels: ofJob,
      summary: "The Secret with the key of Wave's hashes in wave is not as it has to be; the log says why.",
    },
    quiet: [{ [`wave_hash_key_problem{${pod}}`]: "1x3 0x30" }],
  },
  WaveWorkloadWaitsTooLong: {
    fires: {
      series: { [`wave_workloads_longest_seconds{${pod},state="waiting"}`]: "0+60x40" },
      afterMinutes: 20,
      labels: { ...ofJob, state: "waiting" },
      summary:
        "A workload keeps its old Pods for 20m 0s (waiting), and waits for what it requires; wave list -A --state waiting,overLimit shows which.",
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
        "A rollout is held for 1h 5m 0s by wave, which should have ended; wave list -A --state held shows which.",
    },
    quiet: [
      { [`wave_held_workloads_longest_seconds{${pod},reason="window"}`]: "0+60x90" },
      { [`wave_held_workloads_longest_seconds{${pod},reason="hold"}`]: "0+3600x90" },
      { [`wave_held_workloads_longest_seconds{${pod},reason="settling"}`]: "0+60x50 0x40" },
    ],
  },
  WaveRolloutsHalted: {
    fires: {
      series: { [`wave_rollouts_halted{${pod}}`]: "0 0 1x30" },
      afterMinutes: 5,
      labels: ofJob,
      summary:
        "Wave in wave rolls 1 changes of configuration no further, because workloads failed with them; wave list -A --state held shows which wait.",
    },
    quiet: [{ [`wave_rollouts_halted{${pod}}`]: "0x30" }],
  },
  WaveWritesFail: {
    fires: {
      series: {
        [`wave_workloads{${pod},state="refused"}`]: "0 3x30",
        [`wave_workloads{${pod},state="current"}`]: "9x30",
      },
      afterMinutes: 13,
      labels: { ...ofJob, state: "refused" },
      summary: "Wave in wave cannot write 3 workloads (refused); their Events RolloutFailed and the log say why.",
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
        "The API server has answered none of the writes of Wave in wave for 10 minutes, though it may answer others.",
    },
    quiet: [
      {
        [`wave_outcomes_total{${pod},kind="Deployment",outcome="unavailable"}`]: "0x3 1+4x40",
        [`wave_outcomes_total{${pod},kind="StatefulSet",outcome="roll"}`]: "0+1x44",
      },
    ],
  },
  WaveWebhookCertificateExpires: {
    fires: {
      series: { [`wave_webhook_certificate_expiration_timestamp_seconds{${pod}}`]: "0x30" },
      afterMinutes: 11,
      labels: ofPod,
      summary:
        "The certificate of Wave's webhook in wave-0 expires within three days, or there is none; the log says why it is not renewed.",
    },
    // promtool's time begins at 0: four days from then, and one that is renewed in time.
    quiet: [
      { [`wave_webhook_certificate_expiration_timestamp_seconds{${pod}}`]: "345600x30" },
      { [`wave_webhook_certificate_expiration_timestamp_seconds{${pod}}`]: "0x5 777600x30" },
    ],
  },
  WaveWebhookIsNotReached: {
    fires: {
      // It is there from the first review that fails.
      series: { [failOpen]: "_x4 1x20" },
      afterMinutes: 8,
      labels: { name: "workloads.wave.pusher.com" },
      summary:
        "The API server let workloads pass without Wave's webhook, which it did not reach; wave doctor says why.",
    },
    quiet: [{ [failOpen]: "_x60" }, { [failOpen.replace("workloads.wave", "other")]: "_x4 1+1x40" }],
  },
};

/** What a Wave in order shows beside whatever a case is about, so that its absence is not what fires. */
export const inOrder: Series = { [`wave_leader{${wave},pod="in-order"}`]: "1x120" };
