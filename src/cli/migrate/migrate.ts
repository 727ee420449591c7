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
import { exitCodeFor } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { UsageError } from "../flags/usage-error.ts";
import { migrateFlags } from "./migrate-flags.ts";
import { type Migration, renderMigration } from "./migrate-output.ts";
import { migrationOf } from "./workload-migration.ts";

/**
 * `wave migrate --dry-run`: previews what happens to each workload if Wave takes over now. The exit code is "no" if a workload would roll,
 * and "incomplete" if an effect is unknown.
 */
export const migrate = clusterCommand({
  name: "migrate",
  flags: migrateFlags,
  help: async (scope) => (await import("./migrate-help.ts")).migrateHelp(scope),
  read: ({ positionals, values, terminal }) => {
    const [surplus] = positionals;
    if (surplus !== undefined) throw new UsageError(argumentErrorTexts.surplusNamespace(surplus));
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
      const workloads = snapshots.map(migrationOf).sort(inOrder);
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

function inOrder(a: Migration["workloads"][number], b: Migration["workloads"][number]): number {
  const [first = "", second = ""] = [a, b].map(({ namespace, kind, name }) => [namespace, kind, name].join(" "));
  return first < second ? -1 : 1;
}
