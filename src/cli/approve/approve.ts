import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import { annotate, called, type Target } from "../annotate/annotate.ts";
import { type Annotator, annotationCommand, annotationNotes } from "../annotate/annotation-command.ts";
import { whatComesNext } from "../annotate/what-comes-next.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation.ts";
import { policyOf } from "../cluster/inherited-flags.ts";
import { CommandFailure } from "../command/command-failure.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { namedWorkloadRows } from "../command/workload-argument.ts";

/** `wave approve KIND/NAME`: lets the current configuration be rolled where `mode: approve` waits for a person. */
export const approve = annotationCommand({
  name: "approve",
  kinds: namedWorkloadRows,
  help: {
    summary:
      "Approves the current configuration of a workload with wave.pusher.com/mode: approve, its own or its Namespace's: writes the digits " +
      "of its hash as annotation wave.pusher.com/approved. What changes after that needs another approval.",
    examples: [
      ["wave explain deployment/web -n shop", "look first: what would be rolled, and why"],
      ["wave approve deployment/web -n shop", "then approve it"],
    ],
    notes: [
      "It makes the hash from what it reads with your own permissions. Where you may not read a Secret, take the digits from the Event RolloutHeld of the workload, and write the annotation yourself.",
      ...annotationNotes,
    ],
  },
  run: approveOne,
});

async function approveOne(annotator: Annotator, target: Target): Promise<void> {
  const asked = await annotator.read(target);
  if (asked === undefined) return;
  const explanation = explainWorkload(asked);
  const { workload } = asked.found;
  const isDue = explanation.state === "due" || explanation.state === "held";
  if (isDue && rolloutPolicyOf(workload, policyOf(asked.policy)).mode.value !== "approve") {
    annotator.say(`${called(target)} needs no approval: its mode is not approve, and nothing is written.`);
  } else if (isDue || explanation.state === "unknown") {
    const digits = digitsOf(explanation);
    await annotate(annotator, target, "approved", digits);
    annotator.say(`${called(target)}: the configuration of hash ${digits.slice(0, 8)} is approved.`);
  } else {
    annotator.say(`${called(target)} has nothing to approve, and nothing is written.`);
  }
  const after = await annotator.read(target);
  if (after !== undefined) annotator.say(whatComesNext(after));
}

/** All of them: somebody might make up another configuration whose hash begins with the same few. */
function digitsOf({ currentHash, message }: Explanation): string {
  if (currentHash === null)
    throw new CommandFailure(
      `which hash to approve cannot be told: ${message}; take its first 8 digits from the Event RolloutHeld, and write them as annotation wave.pusher.com/approved`,
      exitCodes.cluster,
    );
  return currentHash.slice(currentHash.indexOf(":") + 1);
}
