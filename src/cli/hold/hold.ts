import { annotate, argumentsFor, called } from "../annotate/annotate.ts";
import { annotationCommand, annotationNotes } from "../annotate/annotation-command.ts";
import { whatComesNext } from "../annotate/what-comes-next.ts";
import { configRows, namedWorkloadRows, namespaceRows } from "../command/workload-argument.ts";

/** `wave hold KIND/NAME`: nothing is rolled there until it is released. */
export const hold = annotationCommand({
  name: "hold",
  kinds: [...namedWorkloadRows, ...namespaceRows, ...configRows],
  help: {
    summary:
      'Holds a workload, all workloads of a Namespace, or whatever would be rolled for a ConfigMap or Secret, by annotation wave.pusher.com/hold: "true". ' +
      "Nothing is lost: what is still needed is rolled once when it is released.",
    examples: [
      ["wave hold deployment/web -n shop", "one workload"],
      ["wave hold namespace/shop", "all workloads of a Namespace that do not say otherwise"],
      ["wave hold configmap/page -n shop", "whatever reads this ConfigMap, as far as nothing else changed for it"],
    ],
    notes: annotationNotes,
  },
  run: async (annotator, target) => {
    await annotate(annotator, target, "hold", "true");
    annotator.say(`${called(target)} is held, until "wave release ${argumentsFor(target)}".`);
    const asked = await annotator.read(target);
    annotator.say(asked === undefined ? (consequences[target.kind] ?? "") : whatComesNext(asked));
  },
});

const consequences: Readonly<Record<string, string>> = {
  Namespace: 'No workload in it is rolled, but those that have hold: "false" themselves.',
  ConfigMap: "Nobody is rolled for it; what another object's change asks for goes on, and then sees this one as it is.",
  Secret: "Nobody is rolled for it; what another object's change asks for goes on, and then sees this one as it is.",
};
