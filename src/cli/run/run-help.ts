import { exitCodes } from "../command/command.ts";
import { renderHelp } from "../command/help.ts";
import { flagsWithoutEffect } from "../flags/compatibility-flags.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { runFlags } from "../flags/run-flags.ts";

/** Returns the text of `wave run --help` or of `wave run --help-all`. */
export function runHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave run [flags]",
      description: "Run the controller, which rolls the workloads that opted in.",
      examples: [
        ["wave run --observe", "your kubeconfig, without writes"],
        ["wave run --leader-election --enable-webhooks", "in a cluster"],
        ["wave run --namespaces=shop,web --sync-period=10m --log-format=json", "two namespaces, JSON logs"],
        [
          "wave run --enable-webhooks --webhook-bind-address=127.0.0.1:9443 --webhook-url=https://127.0.0.1:9443",
          "webhooks for an API server on the same machine",
        ],
      ],
      usualFlags: ["namespaces", "observe", "enable-webhooks", "leader-election"],
      shortTexts: {
        namespaces: "Roll only in these namespaces (default: all).",
        observe: "Dry run: write nothing, report what would roll.",
        "enable-webhooks": "Add the hash before the first Pods start.",
        "leader-election": "Elect one of several replicas as leader.",
      },
      details: [
        "The flags for the cluster are those of kubectl, except --request-timeout: Wave limits and repeats each request itself.",
        'To opt in a workload, set its annotation wave.pusher.com/update-on-config-change to "true".',
        "Durations have the form of Go: 300ms, 1.5s, 5m, 1h30m. A boolean flag takes its value after an equals sign: --scheduling-hold=false.",
        `Accepted flags of Reloader without effect: ${Object.keys(flagsWithoutEffect)
          .map((name) => `--${name}`)
          .join(", ")}.`,
      ],
      exits: {
        [exitCodes.done]: "Stopped by SIGTERM or SIGINT. A second signal ends the process at once.",
        [exitCodes.no]: "Stopped by an error. See the last log line.",
        [exitCodes.usage]: "Usage error: invalid flags or variables, a bad kubeconfig, or a bad --notify file.",
      },
    },
    runFlags,
    scope,
  );
}
