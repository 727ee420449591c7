// `wave roll KIND/NAME...`: writes the time of a request. src/cli/annotation has the mechanism.
import { holdRows } from "../../domain/pacing/holds.ts";
import { annotate, readUserName, removeCommand, serverTime } from "../annotation/annotate.ts";
import { type AnnotationContext, actOnWorkload, annotationCommand } from "../annotation/annotation-command.ts";
import { explainWorkload } from "../cluster/explanation/explanation.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { CommandFailure, commandErrorTexts } from "../command/command.ts";
import { type NamedObject, objectName, workloadArgumentKinds } from "../command/workload-argument.ts";
import { sentences } from "../output/sentences.ts";

/** Lets a rollout that is due start now, without its waits. */
export const rollCommand = annotationCommand({
  name: "roll",
  kinds: workloadArgumentKinds,
  help: {
    description:
      "Roll a workload now if a rollout is due: outside its window, soon after earlier rollouts, and before other workloads. Restart a workload whose state is unproven.",
    examples: [
      ["wave explain deployment/web -n shop", "first look at what would roll, and what holds it"],
      ["wave roll deployment/web -n shop", "then roll it"],
    ],
  },
  details: [
    "The command does not go past a hold, mode: observe, mode: approve, or a halted change. Use wave release, wave approve or wave resume.",
    "The command writes the current time and your name to the annotation wave.pusher.com/roll-requested. The request applies for 10 minutes, or until the next rollout. The Event of the rollout names you.",
  ],
  run: actOnWorkload(rollOne),
});

async function rollOne(context: AnnotationContext, target: NamedObject, snapshot: WorkloadSnapshot): Promise<void> {
  const { state, hold, message } = explainWorkload(snapshot);
  if (state === "held" && hold !== null && !holdRows[hold.reason].isSkipped)
    throw new CommandFailure(commandErrorTexts.notPassed(objectName(target), hold.reason, sentences(message ?? "")));
  if (state === "held" || state === "unknown" || state === "unproven") {
    const user = await readUserName(context);
    const time = await serverTime(context, target);
    await annotate(context, target, { "roll-requested": user === undefined ? time : `${time} ${user}` });
    context.print(`${objectName(target)} requested to roll now (undo: ${removeCommand(target, "roll-requested")})`);
  } else if (state !== "due") {
    context.print(`${objectName(target)} unchanged: no rollout waits`);
  }
}
