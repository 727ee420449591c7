import { compatibility } from "../../domain/compatibility/settings.ts";
import { quoted } from "../../domain/syntax/wording.ts";
import { clusterCommand } from "../cluster/cluster-command.ts";
import { readPolicy } from "../cluster/inherited-flags.ts";
import { otherControllers } from "../cluster/other-controllers.ts";
import { readWorkloadSnapshots } from "../cluster/read-workload-snapshots.ts";
import { withCluster } from "../command/command-failure.ts";
import { exitCodeFor } from "../command/exit-codes.ts";
import { UsageError } from "../flags/usage-error.ts";
import { printable } from "../output/printable.ts";
import { migrateFlags } from "./migrate-flags.ts";
import { type Migration, renderMigration } from "./migrate-output.ts";
import { migrationOf } from "./workload-migration.ts";

/**
 * `wave migrate --dry-run`: what would become of each workload if Wave took over now. The answer is no where something would
 * roll; what could not be read is none.
 */
export const migrate = clusterCommand({
  name: "migrate",
  flags: migrateFlags,
  help: async () => (await import("./migrate-help.ts")).migrateHelp(),
  read: ({ positionals, values, terminal }) => {
    const [surplus] = positionals;
    if (surplus !== undefined) throw new UsageError(`${quoted(surplus)} is not a flag; -n and -A say where to look`);
    if (!values["dry-run"]) throw new UsageError("it only looks: call it with --dry-run. To migrate, start Wave");
    return async (cluster) => {
      const { client } = cluster;
      const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
      const policy = await readPolicy(client, { ...values, compatibility: values.compatibility ?? compatibility });
      const [{ asked, failures, gaps }, others] = await Promise.all([
        readWorkloadSnapshots(cluster, namespace, undefined, policy),
        otherControllers(client, undefined),
      ]);
      const workloads = asked.map(migrationOf).sort(inOrder);
      const unread = "unread" in others ? [`could not look for other controllers: ${others.unread}`] : [];
      const unseen = [...failures, ...gaps, ...unread];
      for (const line of unseen) terminal.writeError(`wave migrate: ${printable(withCluster(line, cluster))}\n`);
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

function inOrder(a: Migration["workloads"][number], b: Migration["workloads"][number]): number {
  const [first = "", second = ""] = [a, b].map(({ namespace, kind, name }) => [namespace, kind, name].join(" "));
  return first < second ? -1 : 1;
}
