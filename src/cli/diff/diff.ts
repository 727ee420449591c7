// `wave diff`. This folder plans workloads with and without manifests; manifests/ reads and merges the manifests.
import { formatList } from "../../domain/syntax/names.ts";
import { readRunningPolicy } from "../cluster/running-wave/known-policy.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster, argumentErrorTexts, exitCodes } from "../command/command.ts";
import { findArgumentKind, workloadArgumentKinds } from "../command/workload-argument.ts";
import { connectionFlags, namespaceFlag, outputFlag } from "../flags/connection-flags.ts";
import { bool, text, UsageError } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { readClusterStates } from "./cluster-states.ts";
import { desiredObjects } from "./desired-objects.ts";
import { diffBase } from "./diff-base.ts";
import { manifestErrorTexts } from "./manifests/manifest.ts";
import { parseManifests, readManifestFiles } from "./manifests/parse-manifests.ts";
import { overlayManifests } from "./overlay.ts";
import { diffEffects } from "./planned-pair.ts";
import { renderDifferences } from "./render-differences.ts";
import { diffRevision } from "./revision/diff-revision.ts";

const group = "Manifests";

const flags = {
  filename: {
    ...text({
      group,
      short: "f",
      placeholder: "FILE",
      help: "File, folder (all *.yaml, *.yml and *.json below it), or - for standard input. Repeatable.",
    }),
    repeats: "," as const,
  },
  base: {
    ...text({
      group,
      placeholder: "FILE",
      help: "Compare with these manifests, such as those of the target branch, instead of a cluster. Repeatable.",
    }),
    repeats: "," as const,
  },
  namespace: {
    ...namespaceFlag,
    group,
    help: "Namespace of manifests without a namespace, as in kubectl apply.",
  },
  output: outputFlag(["table", "markdown"], "table, markdown (a comment for a pull request), json or yaml.", group),
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

/** `wave diff -f FILE`: previews what manifests would roll. Ends with "no" if Pods would be replaced, "incomplete" if that is unknown. */
export const diff = clusterCommand({
  name: "diff",
  flags,
  kinds: workloadArgumentKinds,
  help: {
    usage: "wave diff {-f FILE [--base FILE] | KIND/NAME --revision NUMBER} [flags]",
    description:
      "Preview which workloads would roll if manifests were applied, and through which keys. Or show which keys changed since a revision.",
    examples: [
      ["helm template shop ./shop -n shop | wave diff -f - -n shop", "before an upgrade of a release"],
      ["kustomize build overlays/prod | wave diff -f - -o markdown", "as a comment on a pull request"],
      ["wave diff -f manifests/ -f extra.yaml", "a folder and a file"],
      ["wave diff -f manifests/ --base ../main/manifests/", "two branches, without a cluster"],
      ["wave diff deployment/web --revision 3", "the keys that changed since revision 3"],
    ],
    usualFlags: ["filename", "namespace", "output", "revision"],
    details: [
      "The preview overlays the manifests on the current cluster and decides as Wave does. It uses your permissions, writes nothing, and prints no values without --show-values.",
      "With --base, the preview needs no cluster. An object that only the base has is removed. Running Pods are assumed to be current.",
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
    const names = namesIn(values.filename ?? "");
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
    const readHead = async () => {
      const manifests = await parseManifests(await readManifestFiles([...new Set(names)], terminal.input));
      // Usually the previous tool of a pipe failed.
      if (manifests.length === 0)
        throw new UsageError(manifestErrorTexts.noManifest(formatList(names, 3, describeFile)));
      return manifests;
    };
    const { base: baseFiles, namespace } = values;
    if (baseFiles !== undefined) {
      if (namesIn(baseFiles).includes("-")) throw new UsageError(manifestErrorTexts.baseOfInput);
      for (const flag of Object.keys(connectionFlags))
        if (called.given.get(flag)?.source.startsWith("-"))
          throw new UsageError(manifestErrorTexts.clusterOfBase(flag));
      return {
        withoutCluster: async () => {
          const manifests = await readHead();
          const base = await parseManifests(await readManifestFiles(namesIn(baseFiles), terminal.input));
          return diffBase(called, { manifests, base, namespace, output });
        },
      };
    }
    return async (cluster) => {
      const manifests = await readHead();
      const policy = await readRunningPolicy(cluster, called, undefined);
      const place = { namespace: namespace ?? cluster.namespace, given: namespace !== undefined };
      const wanted = desiredObjects(manifests, policy.kinds, place);
      const now = Date.now();
      const overlay = await overlayManifests(cluster.client, wanted, policy, now);
      const states = await readClusterStates(cluster.client, policy, overlay);
      const describeGap = (gap: string) => appendCluster(gap, cluster);
      return renderDifferences(terminal, { states, notes: wanted.notes, now, output, describeGap });
    };
  },
});

/** Returns the error about an argument without `--revision`: it is a workload or a file. */
function surplusText(argument: string): string {
  const kind = argument.split("/", 1)[0] ?? "";
  const isWorkload = argument.includes("/") && findArgumentKind(kind, workloadArgumentKinds) !== undefined;
  return isWorkload ? argumentErrorTexts.noRevisionNumber(argument) : argumentErrorTexts.surplusFile(argument);
}

function namesIn(list: string): readonly string[] {
  return list.split(",").filter((name) => name !== "");
}

/** Returns the name of a file as error messages use it. */
function describeFile(name: string): string {
  return name === "-" ? "standard input" : name;
}
