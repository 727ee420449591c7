import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import type { NamedObject } from "../command/named-object.ts";
import type { AnnotationContext } from "./annotation-command.ts";
import { nextStep } from "./next-step.ts";

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
