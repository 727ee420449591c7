// `wave migrate`. This folder previews a migration; src/cli/cluster reads the workloads.
import { compatibilities } from "../../domain/compatibility/settings.ts";
import type { ReadFailure } from "../cluster/requests/read-result.ts";
import { readPolicy } from "../cluster/running-wave/known-policy.ts";
import { type OtherController, otherControllers } from "../cluster/running-wave/other-controllers.ts";
import { type RunningWaves, readRunningWaves } from "../cluster/running-wave/running-wave.ts";
import { readWorkloadSnapshots } from "../cluster/snapshot/read-many.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodeFor, exitCodes } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { byObjectName } from "../command/named-object.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { bool } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { allNamespacesFlag, namespaceFlag } from "../flags/namespace-flag.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { UsageError } from "../flags/usage-error.ts";
import { type Migration, renderMigration } from "./migrate-output.ts";
import { migrationEffects, migrationOf } from "./workload-migration.ts";

const flags = {
  "dry-run": bool({
    group: namespaceFlag.group,
    default: false,
    help: "Preview only. Required, because this command never writes.",
  }),
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  output: tableFlag("Output format: a table, or data for a program."),

  ...connectionFlags,
  ...inheritedFlags,
};

/**
 * `wave migrate --dry-run`: previews what happens to each workload if Wave takes over now. The exit code is "no" if a workload would roll,
 * and "incomplete" if an effect is unknown.
 */
export const migrate = clusterCommand({
  name: "migrate",
  flags,
  help: {
    usage: "wave migrate --dry-run [flags]",
    description:
      "Preview what happens to each workload if Wave replaces Wave in Go, SAP pod-reloader or Stakater Reloader.",
    examples: [
      ["wave migrate --dry-run -A", "the whole cluster"],
      [
        "wave migrate --dry-run -A --compatibility=wave,stakater -o json",
        "only annotations of Wave and Stakater, as JSON",
      ],
    ],
    usualFlags: ["dry-run", "namespace", "all-namespaces", "output"],
    details: [
      "The preview understands the annotations of all these controllers, unless --compatibility selects some. It uses your permissions and writes nothing.",
      "The preview does not read the flags of a running Wave. Pass the flags that the new Wave will have.",
    ],
    words: { heading: "Effects", meanings: migrationEffects },
    exits: {
      [exitCodes.done]: "No workload would roll.",
      [exitCodes.no]: "Some workloads would roll.",
    },
  },
  surplus: argumentErrorTexts.surplusNamespace,
  read: ({ values, terminal }) => {
    if (!values["dry-run"]) throw new UsageError(argumentErrorTexts.noDryRun);
    return async (cluster) => {
      const { client } = cluster;
      const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
      const policy = await readPolicy(client, { ...values, compatibility: values.compatibility ?? compatibilities });
      const [{ snapshots, failures, gaps }, controllers, running] = await Promise.all([
        readWorkloadSnapshots(cluster, namespace, undefined, policy),
        otherControllers(client, undefined),
        readRunningWaves(client),
      ]);
      const workloads = snapshots.map(migrationOf).sort(byObjectName);
      const others = withoutRunningWave(controllers, running);
      const unread = "unread" in others ? [`Other controllers are unknown: ${others.unread}.`] : [];
      const unseen = [...failures, ...gaps, ...unread];
      for (const line of unseen) terminal.writeError(warningLine(appendCluster(line, cluster)));
      const migration: Migration = { workloads, controllers: "unread" in others ? null : others };
      terminal.write(await renderMigration(migration, values.output));
      const isUnknown = workloads.some(({ effect }) => effect === "unknown");
      return exitCodeFor({
        no: workloads.some(({ effect }) => effect === "roll"),
        complete: unseen.length === 0 && !isUnknown,
      });
    };
  },
});

/** Returns the controllers without the Deployments that run this Wave: those stay when Wave takes over. */
function withoutRunningWave(
  controllers: readonly OtherController[] | ReadFailure,
  running: RunningWaves,
): readonly OtherController[] | ReadFailure {
  if ("unread" in controllers || "unread" in running) return controllers;
  return controllers.filter(
    ({ namespace, name }) => !running.some((wave) => wave.namespace === namespace && wave.name === name),
  );
}
