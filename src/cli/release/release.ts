// `wave release KIND/NAME...`: removes the annotation of a hold. src/cli/annotation has the mechanism. With --scheduling-holds it undoes
// what keeps Pods pending without Wave.
import { annotate, readAnnotation } from "../annotation/annotate.ts";
import { type AnnotationContext, annotationCommand, nextStep } from "../annotation/annotation-command.ts";
import { startsNow } from "../cluster/running-wave/running-wave.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import {
  commandArguments,
  configArgumentKinds,
  type NamedObject,
  namespaceArgumentKinds,
  objectName,
  workloadArgumentKinds,
} from "../command/workload-argument.ts";
import { releaseClusterCommand, releaseClusterFlags } from "../hold/cluster-hold.ts";
import { releaseHolds, releaseHoldsExample, schedulingHoldFlags } from "./scheduling-holds.ts";

/**
 * Removes the hold of objects, with --cluster the hold of every rollout, or lifts scheduling holds. In a held Namespace it exempts one
 * workload from the hold of the Namespace.
 */
export const releaseCommand = annotationCommand({
  name: "release",
  kinds: [...workloadArgumentKinds, ...namespaceArgumentKinds, ...configArgumentKinds],
  help: {
    description: "Remove a hold. Wave then rolls each workload once if a rollout is still needed.",
    examples: [
      ["wave release deployment/web -n shop", "one workload, even in a held Namespace"],
      ["wave release namespace/shop", "the hold of a Namespace"],
      ["wave release --cluster", "the hold of every rollout"],
      releaseHoldsExample,
    ],
  },
  otherFlags: { ...releaseClusterFlags, ...schedulingHoldFlags },
  otherUses: { cluster: releaseClusterCommand, "scheduling-holds": releaseHolds },
  details: [
    'The command removes the annotation wave.pusher.com/hold. If the Namespace is held, it sets hold: "false" on the workload instead, so that only this workload continues.',
  ],
  run: async (context, target) => {
    const before = await context.read(target);
    const value = before !== undefined && isHeldByNamespace(before) ? "false" : null;
    const current = (await readAnnotation(context, target, "hold"))?.trim() ?? "";
    if (value === null ? current === "" : current === value) {
      const why = value === null ? "it has no hold" : `the hold of namespace/${target.namespace} does not apply to it`;
      context.print(`${objectName(target)} unchanged: ${why}`);
    } else {
      await annotate(context, target, { hold: value, "hold-reason": null });
      const still = value === null ? "" : `; namespace/${target.namespace} stays held`;
      context.print(
        current === "false" && value === null
          ? `${objectName(target)} had no hold. The holds of its Namespace apply to it again`
          : `${objectName(target)} released${still} (undo: wave hold ${commandArguments(target)})`,
      );
    }
    await context.printEffect(async () => context.print(await effectOf(context, target)));
  },
});

/** Reports whether the Namespace holds the workload. Every value except "false" holds, also an invalid value. */
function isHeldByNamespace({ found: { workload }, policy }: WorkloadSnapshot): boolean {
  const { hold = "" } = policy.namespacePolicyOf?.(workload.namespace)?.annotations ?? {};
  return hold !== "" && hold.trim() !== "false";
}

async function effectOf(context: AnnotationContext, target: NamedObject): Promise<string> {
  const snapshot = await context.read(target);
  if (snapshot !== undefined) return nextStep(snapshot);
  const namespace = target.kind === "Namespace" ? target.name : target.namespace;
  const effect = startsNow(
    context.policy.presence,
    "Wave now rolls every workload that is due and has no other hold.",
    "Every workload that is due and has no other hold may roll.",
  );
  return `${effect} Follow the progress: wave list -n ${namespace}`;
}
