// `wave hold KIND/NAME...` or `wave hold --cluster`: writes one annotation. src/cli/annotation has the mechanism.
import { isPinned } from "../../domain/pinning/pin-request.ts";
import { policyRows } from "../../domain/policy/policy-rows.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { annotate, signedReason } from "../annotation/annotate.ts";
import { annotationCommand, nextStep } from "../annotation/annotation-command.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import {
  commandArguments,
  configArgumentKinds,
  namespaceArgumentKinds,
  objectName,
  workloadArgumentKinds,
} from "../command/workload-argument.ts";
import { holdClusterCommand, holdClusterFlags, holdLimits } from "./cluster-hold.ts";

/** Holds rollouts of an object, or with --cluster every rollout, until `wave release`. */
export const holdCommand = annotationCommand({
  name: "hold",
  kinds: [...workloadArgumentKinds, ...namespaceArgumentKinds, ...configArgumentKinds],
  help: {
    description:
      "Hold rollouts of a workload, of all workloads in a Namespace, or for changes of a ConfigMap or Secret, until wave release.",
    examples: [
      ["wave hold deployment/web -n shop", "one workload"],
      ['wave hold --cluster --reason "INC-12"', "every rollout, in an emergency"],
      ["wave hold namespace/shop", "every workload in a Namespace"],
      ["wave hold configmap/page -n shop", "changes of one ConfigMap"],
    ],
  },
  otherFlags: holdClusterFlags,
  otherUses: { cluster: holdClusterCommand },
  details: [
    'The command sets the annotation wave.pusher.com/hold: "true", and writes your name and --reason to wave.pusher.com/hold-reason. After the release, Wave rolls each workload once if a rollout is still needed.',
    'In a held Namespace, workloads with the annotation wave.pusher.com/hold: "false" still roll. A workload that reads a held ConfigMap still rolls for changes of other objects.',
  ],
  run: async (context, target) => {
    const reason = (await signedReason(context, context.reason)).slice(0, policyRows["hold-reason"].maxLength);
    await annotate(context, target, { hold: "true", "hold-reason": reason === "" ? null : reason });
    context.print(`${objectName(target)} held (undo: wave release ${commandArguments(target)})`);
    await context.printEffect(async () => {
      const snapshot = await context.read(target);
      context.print(snapshot === undefined ? (effects[target.kind] ?? "") : nextStep(snapshot));
      if (snapshot?.found.workload.kind === "Deployment")
        context.print(holdLimits.undo(snapshot.found.workload.namespace));
      if (snapshot === undefined || !readsOnlyCopies(snapshot))
        context.print(target.kind === "Secret" ? holdLimits.secrets : holdLimits.configMaps);
    });
  },
});

/** Reports whether Pods of a workload do not read held changes. Secrets are not pinned. */
function readsOnlyCopies({ found: { workload }, policy }: WorkloadSnapshot): boolean {
  return (
    isPinned(workload, rulesFor(workload, policy)) && workload.references.every(({ kind }) => kind === "ConfigMap")
  );
}

const configEffect =
  "Changes of this object start no rollout. A rollout for another reason still happens and uses the current content.";

const effects: Readonly<Record<string, string>> = {
  Namespace: 'No workload in the Namespace rolls, except those with the annotation wave.pusher.com/hold: "false".',
  ConfigMap: configEffect,
  Secret: configEffect,
};
