import { enumerated, quoted } from "../../domain/syntax/wording.ts";
import { clusterCommand } from "../cluster/cluster-command.ts";
import { readRunningPolicy } from "../cluster/effective-flags.ts";
import { withCluster } from "../command/command-failure.ts";
import { exitCodeFor } from "../command/exit-codes.ts";
import { UsageError } from "../flags/usage-error.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import { readClusterStates } from "./cluster-states.ts";
import { desiredObjects } from "./desired-objects.ts";
import { diffFlags } from "./diff-flags.ts";
import { renderDiff } from "./diff-output.ts";
import { differencesOf } from "./workload-difference.ts";
import { replacing } from "./diff-effects.ts";
import { readManifestFiles } from "./manifests/manifest-files.ts";
import { parseManifests } from "./manifests/parse-manifests.ts";
import { overlayManifests } from "./overlay.ts";

/**
 * `wave diff -f FILE`: which workloads would roll if these manifests were applied. The answer is no where Pods would be
 * replaced; what could not be told is no answer.
 */
export const diff = clusterCommand({
  name: "diff",
  flags: diffFlags,
  help: async () => (await import("./diff-help.ts")).diffHelp(),
  read: (called) => {
    const { positionals, values, terminal } = called;
    const [surplus] = positionals;
    if (surplus !== undefined) throw new UsageError(`${quoted(surplus)} is not a flag; write -f ${surplus}`);
    const names = values.filename?.split(",").filter((name) => name !== "") ?? [];
    if (names.length === 0) throw new UsageError("say what to compare: -f FILE, a folder, or - for standard input");
    return async (cluster) => {
      const manifests = await parseManifests(await readManifestFiles([...new Set(names)], terminal.input));
      // A tool before it in a pipe failed, and says so elsewhere.
      if (manifests.length === 0) throw new UsageError(`there is no manifest in ${enumerated(names, 3, fileCalled)}`);
      const policy = await readRunningPolicy("diff", cluster, called, undefined);
      const place = { namespace: values.namespace ?? cluster.namespace, given: values.namespace !== undefined };
      const wanted = desiredObjects(manifests, policy.kinds, place);
      const now = Date.now();
      const overlay = await overlayManifests(cluster.client, wanted, policy, now);
      const states = await readClusterStates(cluster.client, policy, overlay);
      const workloads = differencesOf(states, now);
      for (const gap of states.gaps) terminal.writeError(`wave diff: ${printable(withCluster(gap, cluster))}\n`);
      const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
      terminal.write(
        await renderDiff({ workloads, notes: [...states.unlisted, ...wanted.notes] }, { output: values.output, paint }),
      );
      const unseen = [...states.gaps, ...states.unlisted];
      return exitCodeFor({
        no: workloads.some(({ effect }) => replacing.has(effect)),
        complete: unseen.length === 0 && workloads.every(({ effect }) => effect !== "unknown"),
      });
    };
  },
});

/** As its mistakes are told, too. */
function fileCalled(name: string): string {
  return name === "-" ? "standard input" : name;
}
