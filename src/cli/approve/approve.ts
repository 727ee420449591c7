// `wave approve KIND/NAME...`: writes the approved hash. src/cli/annotation has the mechanism.
import { rulesFor } from "../../domain/policy/rules.ts";
import { annotate, removeCommand } from "../annotation/annotate.ts";
import { type AnnotationContext, actOnWorkload, annotationCommand } from "../annotation/annotation-command.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation/explanation.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { CommandFailure, commandErrorTexts, exitCodes } from "../command/command.ts";
import { type NamedObject, objectName, workloadArgumentKinds } from "../command/workload-argument.ts";
import { sentences } from "../output/sentences.ts";

/** Approves the current configuration of a workload with `mode: approve`. */
export const approveCommand = annotationCommand({
  name: "approve",
  kinds: workloadArgumentKinds,
  help: {
    description:
      "Approve the current configuration of a workload with mode: approve. Later changes need another approval.",
    examples: [
      ["wave explain deployment/web -n shop", "first look at what would roll, and why"],
      ["wave approve deployment/web -n shop", "then approve it"],
    ],
  },
  details: [
    "The command writes the digits of the current hash to the annotation wave.pusher.com/approved. The mode is an annotation of the workload or of its Namespace.",
    "The command computes the hash from the objects that you may read. If you lack permission to read a Secret, take the digits from the Event RolloutHeld of the workload and write the annotation yourself.",
  ],
  run: actOnWorkload(approveOne),
});

async function approveOne(context: AnnotationContext, target: NamedObject, snapshot: WorkloadSnapshot): Promise<void> {
  const explanation = explainWorkload(snapshot);
  const { workload } = snapshot.found;
  const isDue = explanation.state === "due" || explanation.state === "held";
  if (isDue && rulesFor(workload, snapshot.policy).mode.value !== "approve") {
    context.print(`${objectName(target)} unchanged: its mode is not approve, so no approval is needed`);
  } else if (isDue || explanation.state === "unknown") {
    const digits = digitsOf(explanation);
    await annotate(context, target, { approved: digits });
    const undo = removeCommand(target, "approved");
    context.print(`${objectName(target)} approved: hash ${digits.slice(0, 8)} (undo: ${undo})`);
  } else {
    context.print(`${objectName(target)} unchanged: nothing waits for approval`);
  }
}

/** Returns all digits of the current hash: with fewer digits, another configuration could be made to match. */
function digitsOf({ currentHash, message }: Explanation): string {
  if (currentHash === null)
    throw new CommandFailure(commandErrorTexts.hashUnknown(sentences(message ?? "")), exitCodes.incomplete);
  return currentHash.slice(currentHash.indexOf(":") + 1);
}
