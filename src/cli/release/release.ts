import { annotate, called, type Target } from "../annotate/annotate.ts";
import { type Annotator, annotationCommand, annotationNotes } from "../annotate/annotation-command.ts";
import { whatComesNext } from "../annotate/what-comes-next.ts";
import type { Asked } from "../cluster/explanation.ts";
import { configRows, namedWorkloadRows, namespaceRows } from "../command/workload-argument.ts";

/** `wave release KIND/NAME`: takes back what `wave hold` did, also for one workload of a Namespace that is held. */
export const release = annotationCommand({
  name: "release",
  kinds: [...namedWorkloadRows, ...namespaceRows, ...configRows],
  help: {
    summary:
      "Takes back a hold: removes annotation wave.pusher.com/hold. A workload whose Namespace is held gets " +
      'hold: "false" instead, so that it alone goes on. What changed meanwhile is rolled once, if it is still needed.',
    examples: [
      ["wave release deployment/web -n shop", "one workload, even where its Namespace is held"],
      ["wave release namespace/shop", "all of them"],
    ],
    notes: annotationNotes,
  },
  run: async (annotator, target) => {
    const before = await annotator.read(target);
    const value = before !== undefined && isHeldByNamespace(before) ? "false" : null;
    await annotate(annotator, target, "hold", value);
    const alone = value === null ? "" : ", although its Namespace is";
    annotator.say(`${called(target)} is no longer held${alone}.`);
    annotator.say(await next(annotator, target));
  },
});

/** Whatever its Namespace says there but "false" holds it: what cannot be read, too. */
function isHeldByNamespace({ found: { workload }, policy }: Asked): boolean {
  const { hold = "" } = policy.ofNamespace?.(workload.namespace)?.annotations ?? {};
  return hold !== "" && hold.trim() !== "false";
}

async function next(annotator: Annotator, target: Target): Promise<string> {
  const asked = await annotator.read(target);
  if (asked !== undefined) return whatComesNext(asked);
  const which = target.kind === "Namespace" ? `-n ${target.name}` : `-n ${target.namespace}`;
  return `What it held is rolled now, if it is still needed and nothing else holds it: "wave list ${which}" tells.`;
}
