// `wave migrate`. This folder previews a migration; src/cli/cluster reads the workloads.
import { compatibilities } from "../../domain/compatibility/directive.ts";
import { describeMissing } from "../../domain/config/view-of-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { DuePlan } from "../../domain/outcomes/outcomes.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { configKey } from "../../domain/references/references.ts";
import { printable } from "../../lib/printable.ts";
import { readPolicy } from "../cluster/running-wave/known-policy.ts";
import { type OtherController, otherControllers } from "../cluster/running-wave/other-controllers.ts";
import { readRunningWaves } from "../cluster/running-wave/running-wave.ts";
import { isUnread, lookupIn, readableReferences } from "../cluster/snapshot/live-plan.ts";
import { readWorkloadSnapshots } from "../cluster/snapshot/read-one.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster, argumentErrorTexts, exitCodeFor, exitCodes, warningLine } from "../command/command.ts";
import { byObjectName } from "../command/workload-argument.ts";
import { allNamespacesFlag, connectionFlags, namespaceFlag, outputFlag } from "../flags/connection-flags.ts";
import { bool, UsageError } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { sentences } from "../output/sentences.ts";
import { answerText, joined, tableLines } from "../output/table.ts";

/** What happens to a workload when Wave takes over, with the meanings. */
const migrationEffects = {
  current: "The recorded hash matches. Nothing restarts.",
  recorded: "Wave records the current configuration without a restart.",
  roll: "Wave rolls the workload once.",
  waiting: "Something that the Pods require is missing. Running Pods are not changed.",
  overLimit: "The workload exceeds a limit of Wave, so Wave does not roll it.",
  ignored: "Wave does not track the workload: its opt-in is invalid, or its namespace is not watched.",
  unknown: "You do not have permission to read something that the effect depends on.",
} as const;

const flags = {
  "dry-run": bool({
    group: namespaceFlag.group,
    default: false,
    help: "Preview only. Required, because this command never writes.",
  }),
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  output: outputFlag(["table"], "Output format: a table, or data for a program."),

  ...connectionFlags,
  ...inheritedFlags,
};

/** `wave migrate --dry-run`: previews what rolls if Wave takes over now. Ends with "no" if a workload rolls, "incomplete" if unknown. */
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
      const [{ snapshots, failures, gaps }, others] = await Promise.all([
        readWorkloadSnapshots(cluster, namespace, undefined, policy),
        // The Deployments of this Wave stay when Wave takes over.
        readRunningWaves(client).then((waves) => otherControllers(client, waves)),
      ]);
      const workloads = snapshots.map(migrationOf).sort(byObjectName);
      const unread = "unread" in others ? [`Other controllers are unknown: ${others.unread}.`] : [];
      const unseen = [...failures, ...gaps, ...unread];
      for (const line of unseen) terminal.writeError(warningLine(appendCluster(line, cluster)));
      const migration: Migration = { workloads, controllers: "unread" in others ? null : others.read };
      const forPeople = () => joined([...table(migration), ...summary(migration)]);
      terminal.write(await answerText(values.output, { version: 1, ...migration }, forPeople));
      const isUnknown = workloads.some(({ effect }) => effect === "unknown");
      return exitCodeFor({
        no: workloads.some(({ effect }) => effect === "roll"),
        complete: unseen.length === 0 && !isUnknown,
      });
    };
  },
});

/** The output of `wave migrate -o json`. */
interface Migration {
  readonly workloads: readonly WorkloadMigration[];
  /** Other controllers that roll workloads in this cluster, Wave in Go included; null if Deployments could not be listed. */
  readonly controllers: readonly OtherController[] | null;
}

function table({ workloads }: Migration): readonly string[] {
  if (workloads.length === 0) return ["No workload found with an annotation of Wave or of another controller."];
  const heading = ["NAMESPACE", "NAME", "EFFECT", "COMPATIBILITY", "REASON"];
  const rows = workloads.map(({ namespace, kind, name, compatibility, effect, reason }) => [
    namespace,
    `${kind.toLowerCase()}/${name}`,
    effect,
    compatibility.join(",") || "-",
    reason,
  ]);
  return tableLines([heading, ...rows], 3);
}

function summary({ workloads, controllers }: Migration): readonly string[] {
  const rolls = workloads.filter(({ effect }) => effect === "roll").length;
  const unknown = workloads.filter(({ effect }) => effect === "unknown").length;
  const leftovers = workloads.filter((each) => each.leftovers.length > 0).length;
  const all = `${workloads.length} ${workloads.length === 1 ? "workload" : "workloads"}`;
  const lines = [`${rolls} of ${all} would roll.${unknown === 0 ? "" : ` The effect on ${unknown} is unknown.`}`];
  if (leftovers > 0) {
    const have = `${leftovers} ${leftovers === 1 ? "has" : "have"} a finalizer of an old Wave.`;
    lines.push(`${have} Run Wave once with --migrate-legacy to remove it.`);
  }
  for (const { controller, namespace, name, replicas } of controllers ?? []) {
    const count = replicas === 1 ? "1 replica" : `${replicas} replicas`;
    const runs = `${controller} runs as deployment/${name} in ${namespace} (${count}).`;
    lines.push(printable(`${runs} Scale it to 0 before Wave takes over.`));
  }
  return ["", ...lines];
}

type MigrationEffect = keyof typeof migrationEffects;

/** One workload in the output of `wave migrate -o json`; docs/commands.md promises its fields. */
interface WorkloadMigration {
  readonly kind: Workload["kind"];
  readonly namespace: string;
  readonly name: string;
  /** The controllers whose annotations opt the workload in. */
  readonly compatibility: readonly string[];
  readonly effect: MigrationEffect;
  /** One line for people. */
  readonly reason: string;
  /** Finalizers that an old version of Wave left on the workload. */
  readonly leftovers: readonly string[];
}

/** Returns what Wave does with a workload when it takes over, regardless of holds. */
function migrationOf({ found, unnamed, read, policy, gaps }: WorkloadSnapshot): WorkloadMigration {
  const { object, workload } = found;
  const { kind, namespace, name } = workload;
  const readable = { ...workload, references: readableReferences(workload.references, read) };
  const plan = planRollout(readable, lookupIn(read), rulesFor(workload, policy));
  const unread = workload.references.filter((reference) => isUnread(read.get(configKey(reference))));
  const unknown =
    unread.length > 0 ? `Cannot read ${describeMissing(unread, namespace)}.` : (unnamed?.error ?? gaps[0]);
  const result =
    unknown === undefined
      ? { effect: effectOf(plan), reason: sentences(plan.reason) }
      : { effect: "unknown" as const, reason: unknown };
  const leftovers = (object.metadata?.finalizers ?? []).filter((finalizer) => finalizer.startsWith("wave.pusher.com/"));
  return { kind, namespace, name, compatibility: workload.peer?.compatibility ?? ["wave"], ...result, leftovers };
}

function effectOf({ outcome }: DuePlan): MigrationEffect {
  switch (outcome) {
    case "current":
    case "recorded":
    case "waiting":
    case "overLimit":
      return outcome;
    case "firstHash":
    case "roll":
      return "roll";
    case "ignore":
    case "cleanUp":
      return "ignored";
  }
}
