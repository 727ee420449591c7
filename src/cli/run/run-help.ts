import { renderHelp } from "../command/help.ts";
import { runFlags } from "../flags/run-flags.ts";

/** What `wave run --help` prints. */
export function runHelp(): string {
  return renderHelp(
    {
      usage: "wave run [flags]",
      summary:
        "Watches a cluster and replaces the Pods of every Deployment, StatefulSet and DaemonSet that opts in, exactly when " +
        'the ConfigMaps and Secrets that its Pods see have changed. Opt in with the annotation wave.pusher.com/update-on-config-change: "true".',
      examples: [
        ["wave run", "the cluster of your kubeconfig, all namespaces"],
        ["wave run --namespaces=shop,web --sync-period=10m --log-format=json", "two namespaces, logs for a machine"],
        ["wave run --leader-election --enable-webhooks", "in a cluster, as one of several replicas"],
        [
          "wave run --enable-webhooks --webhook-bind-address=127.0.0.1:9443 --webhook-url=https://127.0.0.1:9443",
          "with webhooks, beside an API server on this machine",
        ],
      ],
      notes: [
        "Durations are as in Go: 300ms, 1.5s, 5m, 1h30m. A flag that is on or off takes its value after an equals sign: --scheduling-hold=false.",
      ],
      exits: {
        0: "after SIGTERM or SIGINT; a second signal ends it at once",
        1: "it could not go on: its last log line says why",
        2: "a mistake in the flags, in a variable, in the kubeconfig, or in the file of --notify",
      },
    },
    runFlags,
  );
}
