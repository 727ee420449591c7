// `wave diff`. This folder plans workloads with and without manifests; manifests/ reads and merges the manifests.
import { formatList } from "../../domain/syntax/wording.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodeFor } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { UsageError } from "../flags/usage-error.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { readClusterStates } from "./cluster-states.ts";
import { desiredObjects } from "./desired-objects.ts";
import { replacing } from "./diff-effects.ts";
import { diffFlags } from "./diff-flags.ts";
import { renderDiff } from "./diff-output.ts";
import { manifestErrorTexts } from "./manifests/manifest-error-texts.ts";
import { readManifestFiles } from "./manifests/manifest-files.ts";
import { parseManifests } from "./manifests/parse-manifests.ts";
import { overlayManifests } from "./overlay.ts";
import { differencesOf } from "./workload-difference.ts";

/**
 * `wave diff -f FILE`: previews which workloads would roll if manifests were applied. The exit code is "no" if Pods would be replaced, and
 * "incomplete" if an effect is unknown.
 */
export const diff = clusterCommand({
  name: "diff",
  flags: diffFlags,
  help: async (scope) => (await import("./diff-help.ts")).diffHelp(scope),
  read: (called) => {
    const { positionals, values, terminal } = called;
    const [surplus] = positionals;
    if (surplus !== undefined) throw new UsageError(argumentErrorTexts.surplusFile(surplus));
    const names = values.filename?.split(",").filter((name) => name !== "") ?? [];
    if (names.length === 0) throw new UsageError(manifestErrorTexts.noFile);
    return async (cluster) => {
      const manifests = await parseManifests(await readManifestFiles([...new Set(names)], terminal.input));
      // Usually the previous tool of a pipe failed.
      if (manifests.length === 0)
        throw new UsageError(manifestErrorTexts.noManifest(formatList(names, 3, describeFile)));
      const policy = await readRunningPolicy(cluster, called, undefined);
      const place = { namespace: values.namespace ?? cluster.namespace, given: values.namespace !== undefined };
      const wanted = desiredObjects(manifests, policy.kinds, place);
      const now = Date.now();
      const overlay = await overlayManifests(cluster.client, wanted, policy, now);
      const states = await readClusterStates(cluster.client, policy, overlay);
      const workloads = differencesOf(states, now);
      for (const gap of states.gaps) terminal.writeError(warningLine(appendCluster(gap, cluster)));
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

/** Returns the name of a file as error messages use it. */
function describeFile(name: string): string {
  return name === "-" ? "standard input" : name;
}
