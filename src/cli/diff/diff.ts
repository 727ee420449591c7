// `wave diff`. This folder plans workloads with and without manifests; manifests/ reads and merges the manifests.
import { formatList } from "../../domain/syntax/wording.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodeFor, exitCodes } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { findArgumentKind, workloadArgumentKinds } from "../command/workload-argument.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { bool, choice, text } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { UsageError } from "../flags/usage-error.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { programForms } from "../output/program-text.ts";
import { readClusterStates } from "./cluster-states.ts";
import { desiredObjects } from "./desired-objects.ts";
import { diffEffects, replacing } from "./diff-effects.ts";
import { renderDiff } from "./diff-output.ts";
import { manifestErrorTexts } from "./manifests/manifest-error-texts.ts";
import { readManifestFiles } from "./manifests/manifest-files.ts";
import { parseManifests } from "./manifests/parse-manifests.ts";
import { overlayManifests } from "./overlay.ts";
import { diffRevision } from "./revision/diff-revision.ts";
import { differencesOf } from "./workload-difference.ts";

const group = "Manifests";

const flags = {
  filename: {
    ...text({
      group,
      short: "f",
      placeholder: "FILE",
      help: "File, folder (all *.yaml, *.yml and *.json below it), or - for standard input. Repeatable.",
    }),
    repeats: true,
  },
  namespace: {
    ...namespaceFlag,
    group,
    help: "Namespace of manifests without a namespace, as in kubectl apply.",
  },
  output: choice({
    group,
    short: "o",
    of: ["table", "markdown", ...programForms],
    default: "table",
    placeholder: "FORMAT",
    help: "table, markdown (a comment for a pull request), json or yaml.",
  }),
  revision: text({
    group: "Revisions",
    placeholder: "NUMBER",
    form: (value) => /^[1-9]\d{0,8}$/.test(value),
    allowed: "a whole number from 1, as wave history shows it",
    help: "Show what changed since this revision. Compares its pinned copies with the current configuration, by key.",
  }),
  "show-values": bool({
    group: "Revisions",
    default: false,
    help: "With --revision: print the values of the ConfigMaps. Values of Secrets are never printed.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};

/**
 * `wave diff -f FILE`: previews which workloads would roll if manifests were applied. The exit code is "no" if Pods would be replaced, and
 * "incomplete" if an effect is unknown.
 */
export const diff = clusterCommand({
  name: "diff",
  flags,
  kinds: workloadArgumentKinds,
  help: {
    usage: "wave diff {-f FILE | KIND/NAME --revision NUMBER} [flags]",
    description:
      "Preview which workloads would roll if manifests were applied, and through which keys. Or show which keys changed since a revision.",
    examples: [
      ["helm template shop ./shop -n shop | wave diff -f - -n shop", "before an upgrade of a release"],
      ["kustomize build overlays/prod | wave diff -f - -o markdown", "as a comment on a pull request"],
      ["wave diff -f manifests/ -f extra.yaml", "a folder and a file"],
      ["wave diff deployment/web --revision 3", "the keys that changed since revision 3"],
    ],
    usualFlags: ["filename", "namespace", "output", "revision"],
    details: [
      "The preview overlays the manifests on the current cluster and decides as Wave does. It uses your permissions, writes nothing, and prints no values without --show-values.",
      "Changes by admission webhooks and defaults for new fields are not included.",
      "The preview keeps objects that are not in the manifests. As kubectl apply does, it removes only keys and fields that an earlier apply set and the manifests no longer have.",
    ],
    words: { heading: "Effects", meanings: diffEffects },
    exits: {
      [exitCodes.done]: "No Pods would be replaced. With --revision: no key differs.",
      [exitCodes.no]: "Some Pods would be replaced. With --revision: a key differs.",
    },
  },
  read: (called) => {
    const { values, terminal, positionals } = called;
    const names = values.filename?.split(",").filter((name) => name !== "") ?? [];
    const { revision, output } = values;
    if (revision !== undefined) {
      if (names.length > 0) throw new UsageError(argumentErrorTexts.revisionOrFile);
      if (output === "markdown") throw new UsageError(argumentErrorTexts.revisionMarkdown);
      const { namespace, "show-values": withValues } = values;
      return diffRevision(called, { namespace, revision: Number(revision), output, withValues });
    }
    if (values["show-values"]) throw new UsageError(argumentErrorTexts.valuesOfRevision);
    const [surplus] = positionals;
    if (surplus !== undefined) throw new UsageError(surplusText(surplus));
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

/** Returns the error about an argument without `--revision`: it is a workload or a file. */
function surplusText(argument: string): string {
  const kind = argument.split("/", 1)[0] ?? "";
  const isWorkload = argument.includes("/") && findArgumentKind(kind, workloadArgumentKinds) !== undefined;
  return isWorkload ? argumentErrorTexts.noRevisionNumber(argument) : argumentErrorTexts.surplusFile(argument);
}

/** Returns the name of a file as error messages use it. */
function describeFile(name: string): string {
  return name === "-" ? "standard input" : name;
}
