import { isComplete } from "./model-progress.ts";
import { type WaveWrite, waveWriteOf } from "./model-rolls.ts";
import type { AlertAnswer, PlayedAlert, Recording, StoredObject } from "./record.ts";

/** The namespace of the workloads of the scene with alerts, which has nothing else. */
export const alertsNamespace = "alerts";

/** The time between two queries and the time that Wave takes to act on an answer, in milliseconds. */
const [queryMs, actMs] = [15_000, 500];
/** How long Wave waits for Prometheus, and from an alert to its effect, in milliseconds. */
const [awayMs, noticedMs] = [120_000, 20_000];
/** The rate of a clock, at most. */
const drift = 1.05;

/**
 * Judges alerts. No complete workload starts a rollout while its process knows that an alert fires in its namespace. With `--gate-required`,
 * also not while Prometheus does not answer. An alert that begins during the soak time of a canary halts the others until a person resumes it,
 * also after the alert has ended, and after a change of leader.
 */
export function judgeAlerts(run: Pick<Recording, "history" | "lives" | "settings" | "alerted">): readonly string[] {
  const { history, alerted } = run;
  if (alerted === undefined) return [];
  const rollouts = history.flatMap((entry) => waveWriteOf(entry, run) ?? []).filter(({ kind }) => kind !== "quiet");
  const own = rollouts.filter(({ before }) => before.metadata.namespace === alertsNamespace);
  const known = own.flatMap((write) =>
    knowsAlert(write, alerted.answers) ? [`alerts: ${write.what}: it rolled while an alert fires`] : [],
  );
  return [...known, ...alerted.rounds.flatMap((round) => judgeRound(round, own, alerted.answers, run))];
}

/** Reports whether the last answer of the process shows an alert. An alert does not hold a workload whose last rollout failed. */
function knowsAlert({ before, replica, sentAt }: WaveWrite, answers: readonly AlertAnswer[]): boolean {
  if (!isComplete(before) || failedBy(before)) return false;
  const last = answers.findLast((answer) => answer.replica === replica && answer.at < sentAt);
  if (last === undefined || sentAt - last.at < actMs || sentAt - last.at > drift * queryMs) return false;
  return last.firing?.includes(before.metadata.namespace ?? "") === true;
}

function judgeRound(
  { turn, editedAt, canary, endedAt, releasedAt, endAt }: PlayedAlert,
  rollouts: readonly WaveWrite[],
  answers: readonly AlertAnswer[],
  { history, settings }: Pick<Recording, "history" | "settings">,
): readonly string[] {
  if (editedAt === undefined) return ["alerts: the workloads were not rolled in time"];
  const own = rollouts.filter(({ at }) => at >= editedAt && at <= endAt);
  const between = (from: number, to: number) => own.filter(({ sentAt }) => sentAt > from && sentAt < to);
  // An alert does not hold the fix of a rollout that failed.
  const held = (from: number, to: number) => between(from, to).filter(({ before }) => !failedBy(before));
  const named = (writes: readonly WaveWrite[], why: string) => writes.map(({ what }) => `alerts: ${what}: ${why}`);
  switch (turn) {
    case "fires before":
      return named(held(editedAt, endedAt), "it rolled although an alert fired before the edit");
    case "Prometheus is away": {
      // An answer, or its absence, from before the edit counts.
      if (answers.some(({ at }) => at < editedAt && at > editedAt - drift * queryMs)) return [];
      const isRequired = settings.gateRequired === true;
      const early = isRequired ? endedAt : editedAt + awayMs / drift;
      const late = !isRequired && between(editedAt, endedAt).length === 0;
      return [
        ...named(held(editedAt, early), "it rolled while Prometheus was away"),
        ...(late ? ["alerts: no workload rolled although Prometheus was away for long"] : []),
      ];
    }
    case "fires during": {
      const { maxConcurrent = 0 } = settings.pacing ?? {};
      if (canary === undefined || maxConcurrent === 0) return [];
      const states = history.filter(({ after, at }) => after?.metadata.uid === canary.uid && at >= canary.firesAt);
      const isFailed = states.some(({ after, at }) => at < canary.firesAt + noticedMs && after && failedBy(after));
      return [
        ...(isFailed ? [] : ["alerts: the canary has not failed although an alert began to fire in its soak time"]),
        ...named(
          between(canary.firesAt, releasedAt).filter(({ before }) => before.metadata.uid !== canary.uid),
          "it rolled although its canary failed",
        ),
      ];
    }
  }
}

/** Reports whether a workload has the annotation of a rollout that failed because of an alert, and this is its last rollout. */
function failedBy({ metadata }: StoredObject): boolean {
  return metadata.annotations?.["wave.pusher.com/failed-alert"] !== undefined;
}
