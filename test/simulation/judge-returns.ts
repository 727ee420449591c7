import { pinsOf, templateOf } from "./model-pins.ts";
import { annotations, isValidator, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, PlayedReturn, Recording, StoredObject } from "./record.ts";
import { badValue } from "./stage/crashing-pods.ts";

/** The namespace of the workloads that return, which has nothing else. */
export const returnsNamespace = "returns";
/** The ConfigMap that they read, and its key. */
export const page = { name: "page", key: "k" } as const;

/** A process sees a write within this time in milliseconds: no fault happens in the scene but those of its turn. */
const seenMs = 2_000;
/** The longest time from the failure of a rollout to the return, in milliseconds. A new leader needs most of it. */
const returnMs = 120_000;
/** The rate of a clock, at most. */
const drift = 1.05;

type Run = Pick<Recording, "history" | "settings" | "lives" | "returned">;
type Round = PlayedReturn & { readonly badAt: number };

/**
 * Judges a scene whose end follows from its script: a rollout by Wave that fails returns once to the pins before it, and does not roll again to
 * the content that failed while this is live, unless a person or a newer edit decided otherwise.
 */
export function judgeReturns(run: Run): readonly string[] {
  const uids = new Set(run.history.flatMap((entry) => (isReader(entry) ? [entry.after?.metadata.uid ?? ""] : [])));
  return (run.returned ?? []).flatMap((round) => {
    if (!isPlayed(round)) return ["returns: the workloads were not complete before the bad edit"];
    const judged = Array.from(uids, (uid) => new ReaderJudge(run, round, uid));
    const violations = judged.flatMap((one) => one.violations().map((what) => `returns: ${one.name}: ${what}`));
    const hasRolled = judged.some(({ failed }) => failed.length > 0);
    return hasRolled || round.isValidated ? violations : [...violations, "returns: no workload was rolled to the edit"];
  });
}

/** Reports whether a write of the scene is a return, by its copies: from the content that failed to the pins before the bad edit. */
export function isReturn(
  entry: HistoryEntry,
  { history, returned = [] }: Pick<Recording, "history" | "returned">,
): boolean {
  const { by, at, before, after } = entry;
  if (by.actor !== "wave" || !isReader(entry) || !isBad(before, history)) return false;
  const round = returned.filter(isPlayed).find(({ badAt, fixedAt }) => at >= badAt && at < fixedAt);
  if (round === undefined) return false;
  const good = history.findLast((one) => one.after?.metadata.uid === after?.metadata.uid && one.at < round.badAt);
  return pinsText(after) === pinsText(good?.after);
}

/**
 * Reports whether a Pod of the scene was left by a rollout that failed: it reads a copy of the content with which Pods crash, and Wave rolled
 * its workload from such a copy to another one.
 */
export function isLeftBehind(pod: StoredObject, history: readonly HistoryEntry[], rv: number): boolean {
  const isOwner = (workload: StoredObject | undefined) =>
    pod.metadata.ownerReferences?.some(({ uid }) => uid === workload?.metadata.uid) === true;
  const rolled = history.findLast(
    (each) =>
      each.rv < rv &&
      each.by.actor === "wave" &&
      isReader(each) &&
      isOwner(each.after) &&
      copyOfPage(each.before) !== copyOfPage(each.after),
  );
  if (rolled === undefined) return false;
  const read = pinsOf(pod).get(page.name);
  const before = history.filter((each) => each.rv < rv);
  return read !== copyOfPage(rolled.after) && copiedAs(read, before) === badValue && isBad(rolled.before, before);
}

function isPlayed(round: PlayedReturn): round is Round {
  return round.badAt !== undefined;
}

/** Returns the name of the copy that new Pods of a workload of the scene read; undefined if it is not pinned. */
export function copyOfPage(workload: StoredObject | undefined): string | undefined {
  return pinsOf(templateOf(workload)).get(page.name);
}

/** Returns the content of that copy. */
function copiedPage(workload: StoredObject | undefined, history: readonly HistoryEntry[]): string | undefined {
  return copiedAs(copyOfPage(workload), history);
}

function copiedAs(copy: string | undefined, history: readonly HistoryEntry[]): string | undefined {
  const stored = history.findLast(
    ({ resource, after }) =>
      resource === "configmaps" && after?.metadata.namespace === returnsNamespace && after.metadata.name === copy,
  )?.after;
  return (stored?.data as Readonly<Record<string, string>> | undefined)?.[page.key];
}

function isReader({ resource, after }: HistoryEntry): boolean {
  return workloadResources.includes(resource) && after?.metadata.namespace === returnsNamespace && !isValidator(after);
}

class ReaderJudge {
  readonly name: string;
  /** The rollouts by Wave to the content with which Pods crash, and those from it to other content. */
  readonly failed: readonly HistoryEntry[];
  readonly #left: readonly HistoryEntry[];
  readonly #run: Run;
  readonly #played: Round;
  readonly #own: readonly HistoryEntry[];
  readonly #uid: string;

  constructor(run: Run, played: Round, uid: string) {
    this.#run = run;
    this.#played = played;
    this.#uid = uid;
    this.#own = run.history.filter(({ after }) => after?.metadata.uid === uid);
    this.name = this.#own[0]?.after?.metadata.name ?? "";
    const { badAt, fixedAt } = played;
    const between = this.#own.filter(({ at, by }) => by.actor === "wave" && at >= badAt && at < fixedAt);
    this.failed = between.filter(({ before, after }) => !isBad(before, run.history) && isBad(after, run.history));
    this.#left = between.filter(({ before, after }) => isBad(before, run.history) && !isBad(after, run.history));
  }

  violations(): readonly string[] {
    const { turn, isValidated, fixed, endAt } = this.#played;
    const wrong: string[] = [];
    if (isValidated && this.failed.length > 0) wrong.push("it was rolled although the validator refused the edit");
    const edits = turn === "bad edit" ? 2 : 1;
    if (this.failed.length > edits) wrong.push(`it was rolled ${this.failed.length} times to content that failed`);
    wrong.push(...(this.#isDecided() ? this.#decidedOtherwise() : this.#returned()));
    const last = copiedPage(this.#at(endAt), this.#run.history);
    if (last !== fixed) wrong.push(`it reads ${last} at the end, and not ${fixed}`);
    return wrong;
  }

  #isDecided(): boolean {
    const { decided, turn } = this.#played;
    return decided !== undefined && (turn === "good edit" || decided.uid === this.#uid);
  }

  /** A rollout that has failed for long enough has returned, each to the pins before the edit. */
  #returned(): readonly string[] {
    const { badAt, fixedAt } = this.#played;
    const before = this.#pinsAt(badAt - 1);
    const late = this.failed.filter(({ at }, index) => {
      const returned = this.#left[index];
      return (returned?.at ?? fixedAt) - at > this.#longestMs();
    });
    const elsewhere = this.#left.filter(({ after }) => pinsText(after) !== before);
    return [
      ...late.map(({ at }) => `its rollout at ${at} ms has not returned in time`),
      ...elsewhere.map(({ at }) => `it returned at ${at} ms to ${this.#pinsAt(at)} and not to ${before}`),
    ];
  }

  /** The workload does not return after the decision. While a hold decides, it only waits. */
  #decidedOtherwise(): readonly string[] {
    const { decided, releasedAt = Number.POSITIVE_INFINITY, fixedAt, turn, badAt } = this.#played;
    const before = this.#pinsAt(badAt - 1);
    const returned = this.#left.filter(
      ({ at, by, after }) => (by.sentAt ?? at) > (decided?.at ?? 0) + seenMs && pinsText(after) === before,
    );
    const early = returned.filter(({ at }) => at < releasedAt);
    const wrong = early.map(({ at }) => `it returned at ${at} ms although ${turn} decided otherwise`);
    if (turn === "hold" && fixedAt - releasedAt > this.#longestMs() && returned.length !== 1)
      wrong.push(`it returned ${returned.length} times after its hold ended`);
    return wrong;
  }

  #longestMs(): number {
    const { settings, lives } = this.#run;
    const { badAt, fixedAt, turn } = this.#played;
    const running = lives.filter(({ from, to = fixedAt }) => from <= fixedAt && to >= badAt);
    const wallOffMs = Math.max(0, ...running.map((life) => life.wallOffMs));
    // Until its clock has passed the time of a rollout, a leader whose clock is far behind ignores this time.
    // A second bad edit may roll the other readers one after the other, of which there are at most two.
    const rollouts = turn === "bad edit" ? 4 : 2;
    return drift * (settings.pacing?.rolloutTimeoutMs ?? 0) + returnMs + rollouts * wallOffMs;
  }

  #at(time: number): StoredObject | undefined {
    return this.#own.findLast(({ at }) => at <= time)?.after;
  }

  #pinsAt(time: number): string {
    return pinsText(this.#at(time));
  }
}

function isBad(workload: StoredObject | undefined, history: readonly HistoryEntry[]): boolean {
  return copiedPage(workload, history) === badValue;
}

function pinsText(workload: StoredObject | undefined): string {
  return templateOf(workload)?.metadata?.annotations?.[annotations.pinned] ?? "";
}
