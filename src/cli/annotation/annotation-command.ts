import { type Explanation, explainWorkload } from "../cluster/explanation/explanation.ts";
import { type KnownPolicy, readRunningPolicy, withAvailableKind } from "../cluster/running-wave/known-policy.ts";
import { startsNow, type WavePresence } from "../cluster/running-wave/running-wave.ts";
import { readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { withKubernetesReason } from "../cluster/states/state-rows.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import {
  type ArgumentKind,
  accepting,
  argumentErrorTexts,
  type Command,
  exitCodes,
  outputLine,
  reportFailure,
  warningLine,
} from "../command/command.ts";
import type { CommandHelp } from "../command/help.ts";
import { isWorkloadRow, type NamedObject, parseObjectArguments } from "../command/workload-argument.ts";
import { connectionFlags, namespaceFlag } from "../flags/connection-flags.ts";
import { UsageError } from "../flags/flag-types.ts";
import type { FlagTable } from "../flags/parse-flags.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { sentences } from "../output/sentences.ts";
import { type AnnotationWriter, namingWrites } from "./annotate.ts";

/** The cluster and the policy for the commands that write one annotation. */
export interface AnnotationContext extends Cluster, AnnotationWriter {
  readonly policy: KnownPolicy;
  /** Reads a workload with everything that its plan depends on; undefined for an object that is not a workload. */
  readonly read: (target: NamedObject) => Promise<WorkloadSnapshot | undefined>;
  /** The text of `--reason`; undefined if it is not given. */
  readonly reason: string | undefined;
  readonly print: (line: string) => void;
  /** Prints what happens after a write. A failed read is only a warning: the write is done, and a script must not repeat it. */
  readonly printEffect: (effect: () => Promise<void>) => Promise<void>;
}

interface AnnotationCommandRow<K extends string> {
  readonly name: string;
  readonly help: Omit<CommandHelp, "usage" | "exits" | "usualFlags" | "details">;
  /** Paragraphs for `--help-all`. */
  readonly details?: readonly string[];
  readonly kinds: readonly ArgumentKind<K>[];
  /** The flags of other uses of the command, which take no object. Its help shows them too. */
  readonly otherFlags?: FlagTable;
  /** The commands of these uses, each by the flag that requests it. */
  readonly otherUses?: Readonly<Record<string, Command>>;
  /** Writes the annotation of one object and prints the result. */
  readonly run: (context: AnnotationContext, target: NamedObject) => Promise<void>;
}

/** The flags of all these commands. */
const annotationFlags = { namespace: namespaceFlag, ...connectionFlags, ...inheritedFlags };

/** Returns a command that annotates objects one after the other and stops at the first failure. */
export function annotationCommand<K extends string>(row: AnnotationCommandRow<K>): Command {
  const { name, help, details = [], kinds, otherFlags = {}, otherUses = {}, run } = row;
  const flags: typeof annotationFlags = { ...otherFlags, ...annotationFlags };
  const command = clusterCommand({
    name,
    flags,
    kinds,
    help: {
      ...help,
      usage: `wave ${name} KIND/NAME... [flags]`,
      usualFlags: ["namespace", ...Object.keys(otherFlags)],
      details: [...details, "You need permission to get and patch the object. kubectl annotate has the same effect."],
      exits: {
        [exitCodes.done]: "Done, or there was nothing to do.",
        [exitCodes.no]: "Nothing was written: an object was not found, or the command does not apply to it.",
        [exitCodes.incomplete]:
          "Incomplete: some objects were written and others not, or the cluster was unreachable, timed out, or denied access.",
      },
    },
    read: (call) => {
      const { positionals, values, terminal } = call;
      const objects = parseObjectArguments(positionals, kinds);
      const namespaceObject = objects.find(({ kind }) => kind === "Namespace");
      if (namespaceObject !== undefined && values.namespace !== undefined && values.namespace !== namespaceObject.name)
        throw new UsageError(argumentErrorTexts.twoNamespaces(values.namespace, namespaceObject.name));
      return async (cluster) => {
        const namespace = namespaceObject?.name ?? values.namespace ?? cluster.namespace;
        // A verdict of Wave is some seconds old, and a person acts on the state of this moment.
        const policy = { ...(await readRunningPolicy(cluster, call, namespace)), lease: undefined };
        const context: Omit<AnnotationContext, "written"> = {
          ...cluster,
          policy,
          reason: call.given.get("reason")?.text,
          read: async (target) => {
            const { resource } = target;
            return isWorkloadRow(resource)
              ? readWorkloadSnapshot(cluster, { ...target, resource }, target.namespace, policy)
              : undefined;
          },
          print: (line) => terminal.write(outputLine(line)),
          printEffect: async (effect) => {
            try {
              await effect();
            } catch (error) {
              const failure = reportFailure(error, cluster);
              if (failure === undefined) throw error;
              terminal.writeError(warningLine(`The effect is unknown: ${failure.line}`));
            }
          },
        };
        await namingWrites(cluster, async ({ written }) => {
          for (const object of objects) {
            const { resource } = object;
            const found = isWorkloadRow(resource) ? withAvailableKind({ ...object, resource }, policy) : object;
            await run({ ...context, written }, { ...found, namespace: values.namespace ?? cluster.namespace });
          }
        });
        return exitCodes.done;
      };
    },
  });
  const otherUse = (args: readonly string[]) =>
    Object.entries(otherUses).find(([flag]) => args.some((each) => each.split("=")[0] === `--${flag}`))?.[1];
  return accepting(
    async (args, terminal) => {
      const other = otherUse(args);
      if (other !== undefined) return other(args, terminal);
      refuseAllNamespaces(name, args, kinds);
      return command(args, terminal);
    },
    { flags, kinds },
  );
}

/** People try `-A`, because `wave list` has this flag. */
function refuseAllNamespaces(name: string, args: readonly string[], kinds: readonly ArgumentKind<string>[]): void {
  if (!args.includes("-A") && !args.includes("--all-namespaces")) return;
  const isForCluster = kinds.some(({ kind }) => kind === "Namespace");
  const text = isForCluster
    ? argumentErrorTexts.clusterForAll(name)
    : argumentErrorTexts.noAllNamespaces(name, `wave ${name} deployment/web -n shop`);
  throw new UsageError(text);
}

/** What a command does with a workload, from its state before. */
type WorkloadAction = (context: AnnotationContext, target: NamedObject, before: WorkloadSnapshot) => Promise<void>;

/** Returns the work of a command on a workload: read it, act, and print what happens next. */
export function actOnWorkload(act: WorkloadAction): (context: AnnotationContext, target: NamedObject) => Promise<void> {
  return async (context, target) => {
    const before = await context.read(target);
    if (before === undefined) return;
    await act(context, target, before);
    await context.printEffect(async () => {
      const after = await context.read(target);
      if (after !== undefined) context.print(nextStep(after));
    });
  };
}

/** Returns what happens to a workload after a command changed when it rolls: one line, and one line for each failed read. */
export function nextStep(snapshot: WorkloadSnapshot): string {
  return [
    effectOf(explainWorkload(snapshot), snapshot.policy.presence),
    ...snapshot.gaps.map((gap) => sentences(`Incomplete: ${gap}`)),
  ].join("\n");
}

function effectOf(
  { state, message, kubernetes, hold, reason, pods, keptPods }: Explanation,
  presence: WavePresence | undefined,
): string {
  switch (state) {
    case "current":
      return upToDate;
    case "due":
      return startsNow(
        presence,
        keptPods === null ? "Wave rolls the workload now." : `Wave updates the hash now. ${keptPods}`,
        "A rollout is due.",
      );
    case "held":
      return sentences(`A rollout is due, but held (${hold?.reason})`, message ?? "", latestEnd(hold));
    case "ignored":
      return sentences("Wave ignores this workload", reason);
    case "unknown":
      return sentences("The effect is unknown", message ?? "");
    case "rolling":
      // An annotation raises the generation of a Deployment, so for a moment its status is out of date.
      if (pods !== null && pods.current === pods.total) return upToDate;
      return noRollout(state, withKubernetesReason(message ?? reason, kubernetes));
    case "failed":
    case "stuck":
    case "rolledBack":
    case "unproven":
    case "behind":
    case "waiting":
    case "overLimit":
      return noRollout(state, withKubernetesReason(message ?? reason, kubernetes));
  }
}

function latestEnd(hold: Explanation["hold"]): string {
  if (hold === null || hold.until === null || hold.message.includes(hold.until)) return "";
  return `The hold ends at ${hold.until} or earlier`;
}

const upToDate = "The workload is up to date. No rollout is due.";

function noRollout(state: string, message: string): string {
  return sentences(`No rollout starts now. State: ${state}`, message);
}
