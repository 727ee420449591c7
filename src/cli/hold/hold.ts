// `wave hold KIND/NAME...`: writes one annotation. src/cli/annotation has the mechanism.
import { annotate } from "../annotation/annotate.ts";
import { annotationCommand } from "../annotation/annotation-command.ts";
import { nextStep } from "../annotation/next-step.ts";
import { commandArguments, objectName } from "../command/named-object.ts";
import { configArgumentKinds, namespaceArgumentKinds, workloadArgumentKinds } from "../command/workload-argument.ts";

/** Holds rollouts of an object until `wave release`. */
export const holdCommand = annotationCommand({
  name: "hold",
  kinds: [...workloadArgumentKinds, ...namespaceArgumentKinds, ...configArgumentKinds],
  help: {
    description:
      "Hold rollouts of a workload, of all workloads in a Namespace, or for changes of a ConfigMap or Secret, until wave release.",
    examples: [
      ["wave hold deployment/web -n shop", "one workload"],
      ["wave hold namespace/shop", "every workload in a Namespace"],
      ["wave hold configmap/page -n shop", "changes of one ConfigMap"],
    ],
  },
  details: [
    'The command sets the annotation wave.pusher.com/hold: "true". After the release, Wave rolls each workload once if a rollout is still needed.',
    'In a held Namespace, workloads with the annotation wave.pusher.com/hold: "false" still roll. A workload that reads a held ConfigMap still rolls for changes of other objects.',
  ],
  run: async (context, target) => {
    await annotate(context, target, "hold", "true");
    context.print(`${objectName(target)} held (undo: wave release ${commandArguments(target)})`);
    const snapshot = await context.read(target);
    context.print(snapshot === undefined ? (effects[target.kind] ?? "") : nextStep(snapshot));
  },
});

const configEffect =
  "Changes of this object start no rollout. A rollout for another reason still happens and uses the current content.";

const effects: Readonly<Record<string, string>> = {
  Namespace: 'No workload in the Namespace rolls, except those with the annotation wave.pusher.com/hold: "false".',
  ConfigMap: configEffect,
  Secret: configEffect,
};
