import { configKey } from "../../domain/references/references.ts";
import { counted, enumerated } from "../../domain/syntax/wording.ts";
import { annotate, called, serverTime, type Target } from "../annotate/annotate.ts";
import { type Annotator, annotationCommand, annotationNotes } from "../annotate/annotation-command.ts";
import { whatComesNext } from "../annotate/what-comes-next.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation.ts";
import { readAll } from "../cluster/read-all.ts";
import { CommandFailure } from "../command/command-failure.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { configRows, namedWorkloadRows } from "../command/workload-argument.ts";

/** `wave resume KIND/NAME`: lets a change go on that was halted because workloads failed with it. */
export const resume = annotationCommand({
  name: "resume",
  kinds: [...namedWorkloadRows, ...configRows],
  help: {
    summary:
      "Lets go on what was halted because workloads failed: writes the present time as annotation wave.pusher.com/resumed. " +
      "Of a ConfigMap or Secret, on those workloads of its namespace that failed, so that they no longer halt the others; " +
      "of a workload that failed, the same; of one that is halted, it alone goes on. What fails after that halts again.",
    examples: [
      ["wave list -n shop --state failed,held", "look first: what failed, and who is halted"],
      ["wave resume configmap/page -n shop", "go on with the change of this ConfigMap"],
      ["wave resume deployment/web -n shop", "only this workload"],
    ],
    notes: annotationNotes,
  },
  run: (annotator, target) => {
    return configRows.some(({ kind }) => kind === target.kind)
      ? resumeConfig(annotator, target)
      : resumeWorkload(annotator, target);
  },
});

async function resumeWorkload(annotator: Annotator, target: Target): Promise<void> {
  const asked = await annotator.read(target);
  if (asked === undefined) return;
  const { state, hold } = explainWorkload(asked);
  if (state === "failed" || hold?.reason === "halted") {
    await annotate(annotator, target, "resumed", await serverTime(annotator, target));
    annotator.say(
      state === "failed"
        ? `${called(target)} is resumed: its failure halts nobody any more.`
        : `${called(target)} is resumed: it goes on, whatever failed before.`,
    );
  } else {
    annotator.say(`${called(target)} has neither failed nor is it halted: there is nothing to resume.`);
  }
  const after = await annotator.read(target);
  if (after !== undefined) annotator.say(whatComesNext(after));
}

/** How many workloads a line names. */
const shown = 5;

async function resumeConfig(annotator: Annotator, target: Target): Promise<void> {
  const { namespace, name } = target;
  const { asked, failures } = await readAll(annotator, namespace, undefined, annotator.policy);
  const key = configKey({ kind: target.kind === "Secret" ? "Secret" : "ConfigMap", namespace, name });
  const readers = asked.filter(({ found }) => found.workload.references.some((each) => configKey(each) === key));
  if (readers.length === 0 && failures.length === 0)
    throw new CommandFailure(`no workload that opted in reads ${called(target)}; --namespace says where to look`);
  const inState = (state: Explanation["state"]) =>
    readers
      .filter((each) => explainWorkload(each).state === state)
      .map(({ found: { workload } }): Target => ({ ...workload, resource: workload.row }));
  await resumeFailed(annotator, target, inState("failed"), readers.length);
  const unknown = inState("unknown").map((each) => `where ${called(each)} stands`);
  const unseen = [...failures, ...unknown];
  if (unseen.length > 0)
    throw new CommandFailure(
      `not all that may read ${called(target)} could be looked at: ${enumerated(unseen, shown, String)}`,
      exitCodes.cluster,
    );
}

async function resumeFailed(
  annotator: Annotator,
  target: Target,
  failed: readonly Target[],
  readers: number,
): Promise<void> {
  const [first] = failed;
  if (first === undefined) {
    const whose = readers === 1 ? "The workload that reads" : `None of the ${readers} workloads that read`;
    const has = readers === 1 ? "has not" : "has";
    annotator.say(`${whose} ${called(target)} ${has} failed: there is nothing to resume.`);
    return;
  }
  const now = await serverTime(annotator, first);
  for (const each of failed) await annotate(annotator, each, "resumed", now);
  const names = enumerated(failed, shown, (each) => `${each.kind.toLowerCase()}/${each.name}`);
  annotator.say(`${called(target)} is resumed: the failure of ${names} halts nobody any more.`);
  annotator.say(
    `Of the ${counted(readers)} workloads that read it the next go on, as at the beginning of a wave; "wave list -n ${target.namespace}" tells how far.`,
  );
}
