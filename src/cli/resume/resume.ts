// `wave resume KIND/NAME...`: writes the time until which failures are ignored. src/cli/annotation has the mechanism.
import { isHalt } from "../../domain/pacing/holds.ts";
import { rejectsLive } from "../../domain/pinning/rejections.ts";
import { configKey } from "../../domain/references/references.ts";
import { formatCount, formatList } from "../../domain/syntax/names.ts";
import { annotate, removeCommand, serverTime } from "../annotation/annotate.ts";
import { type AnnotationContext, actOnWorkload, annotationCommand } from "../annotation/annotation-command.ts";
import { explainWorkload } from "../cluster/explanation/explanation.ts";
import { lookupIn } from "../cluster/snapshot/live-plan.ts";
import { readWorkloadSnapshots } from "../cluster/snapshot/read-one.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import type { WorkloadStateName } from "../cluster/states/state-rows.ts";
import { CommandFailure, commandErrorTexts, exitCodes } from "../command/command.ts";
import {
  configArgumentKinds,
  type NamedObject,
  objectName,
  qualifiedName,
  workloadArgumentKinds,
} from "../command/workload-argument.ts";

/** Continues a change that Wave halted because rollouts failed. */
export const resumeCommand = annotationCommand({
  name: "resume",
  kinds: [...workloadArgumentKinds, ...configArgumentKinds],
  help: {
    description: "Continue a change that Wave halted because rollouts failed. A later failure halts the change again.",
    examples: [
      ["wave list -n shop --state=failed,held", "first see what failed"],
      ["wave resume configmap/page -n shop", "continue this change"],
      ["wave resume deployment/web -n shop", "continue only this workload"],
    ],
  },
  details: [
    "On a ConfigMap or Secret: ignore the failed workloads of its namespace and continue with the rest. On a failed workload: ignore its failure. On a halted workload: roll only that workload.",
    "On a workload that was rolled back with its pinned configuration: roll to the live configuration again.",
    "The command writes the current time to the annotation wave.pusher.com/resumed.",
  ],
  run: (context, target) => {
    return configArgumentKinds.some(({ kind }) => kind === target.kind)
      ? resumeConfig(context, target)
      : resumeWorkload(context, target);
  },
});

const resumeWorkload = actOnWorkload(async (context, target, snapshot) => {
  const { state, hold } = explainWorkload(snapshot);
  const wasRolledBack = snapshot.found.workload.rejected !== undefined;
  const hasFailed = state === "failed" || (hold !== null && isHalt(hold));
  if (!wasRolledBack && !hasFailed) {
    context.print(`${objectName(target)} unchanged: it has not failed and is not halted`);
    return;
  }
  const resumed = await serverTime(context, target);
  // With one write: without this time, a new leader could take a workload without rejected content for one that has just been rolled back.
  await annotate(context, target, { resumed, ...(wasRolledBack && { "rejected-configmaps": null }) });
  if (wasRolledBack) {
    context.print(
      `${objectName(target)} resumed: it rolls to the live content of the ConfigMaps that were rolled back`,
    );
  }
  if (hasFailed) {
    const effect = state === "failed" ? "its failure no longer halts other workloads" : "it rolls despite the failures";
    context.print(`${objectName(target)} resumed: ${effect} (undo: ${removeCommand(target, "resumed")})`);
  }
});

/** The number of names in one line. */
const shownNames = 5;

async function resumeConfig(context: AnnotationContext, target: NamedObject): Promise<void> {
  const { namespace, name } = target;
  const { snapshots, failures } = await readWorkloadSnapshots(context, namespace, undefined, context.policy);
  const key = configKey({ kind: target.kind === "Secret" ? "Secret" : "ConfigMap", namespace, name });
  const readers = snapshots.filter(({ found }) => found.workload.references.some((each) => configKey(each) === key));
  if (readers.length === 0 && failures.length === 0)
    throw new CommandFailure(commandErrorTexts.noReader(qualifiedName(target)));
  const isIn = (state: WorkloadStateName) => (each: WorkloadSnapshot) => explainWorkload(each).state === state;
  const isRolledBack = ({ found, read }: WorkloadSnapshot) => rejectsLive(found.workload, lookupIn(read), key);
  const failed = readers.filter((each) => isIn("failed")(each) || isRolledBack(each));
  await resumeFailed(context, target, failed.map(namedObject), readers.length);
  const unknown = readers
    .filter(isIn("unknown"))
    .map(namedObject)
    .map((each) => `the state of ${objectName(each)} is unknown`);
  const unread = [...failures, ...unknown];
  if (unread.length === 0) return;
  const cause = formatList(unread, shownNames, String);
  const incomplete = new CommandFailure(
    commandErrorTexts.readersUnknown(qualifiedName(target), cause),
    exitCodes.incomplete,
  );
  if (failed.length === 0) throw incomplete;
  await context.printEffect(() => Promise.reject(incomplete));
}

function namedObject({ found: { workload } }: WorkloadSnapshot): NamedObject {
  return { ...workload, resource: workload.row };
}

async function resumeFailed(
  context: AnnotationContext,
  target: NamedObject,
  failed: readonly NamedObject[],
  readers: number,
): Promise<void> {
  const [first] = failed;
  if (first === undefined) {
    const whose =
      readers === 1
        ? "the workload that reads it has not"
        : `none of the ${formatCount(readers)} workloads that read it has`;
    context.print(`${objectName(target)} unchanged: ${whose} failed`);
    return;
  }
  const now = await serverTime(context, first);
  for (const each of failed) await annotate(context, each, { resumed: now });
  const names = formatList(failed, shownNames, objectName);
  context.print(`${objectName(target)} resumed: the failure of ${names} no longer halts other workloads`);
  for (const each of failed.slice(0, shownNames)) context.print(`Undo: ${removeCommand(each, "resumed")}`);
  const others = readers - failed.length;
  if (others > 0)
    context.print(
      `The change continues with the other workloads that read it (${formatCount(others)}), the canary first. Follow the progress: wave list -n ${target.namespace}`,
    );
}
