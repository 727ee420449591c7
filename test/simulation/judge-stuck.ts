import { waveWriteOf } from "./model-rolls.ts";
import type { HistoryEntry, PlayedStuck, Recording, StoredObject } from "./record.ts";

/** The namespaces of the workloads whose rollouts are stuck, which have nothing else. */
export const stuckNamespaces = ["stuck-secret", "stuck-config"] as const;
/** One of {@link stuckNamespaces}. */
export type StuckNamespace = (typeof stuckNamespaces)[number];

/** The longest time until a new leader acts, in milliseconds. */
const noticedMs = 100_000;
/** A time of the API that is further ahead of the clock of Wave is taken for forged. */
const forgedMs = 600_000;
/** The rate of a clock, at most. */
const drift = 1.05;
/** The precision of times of the API, and the time of a request. */
const slackMs = 2_000;

type Run = Pick<Recording, "history" | "settings" | "lives" | "stuck">;

/**
 * Judges a scene whose end follows from its script: the new Pod of the canary does not start for a reason outside of its configuration. Wave reports
 * that it is stuck, with the words of Kubernetes, and no failure. The canary stays as it is. The others wait until the Pod starts, or for the rollout
 * timeout if only a Secret changed. Then every workload becomes complete. A container that ends is a failure.
 */
export function judgeStuck(run: Run): readonly string[] {
  return (run.stuck ?? []).flatMap((part) => judgePart(part, run).map((wrong) => `${part.namespace}: ${wrong}`));
}

function judgePart(part: PlayedStuck, run: Run): readonly string[] {
  const { editedAt, canary, newerAt, releasedAt, doneAt, fate } = part;
  if (editedAt === undefined) return ["the workloads were not complete before the edit"];
  if (canary === undefined) return ["no workload was rolled to the edit"];
  const during = run.history.filter(({ at }) => at >= editedAt && at <= releasedAt);
  const events = during.flatMap((entry) => eventOf(entry, part.namespace) ?? []);
  const rollouts = during
    .flatMap((entry) => waveWriteOf(entry, run) ?? [])
    .filter(({ kind, before }) => kind !== "quiet" && before.metadata.namespace === part.namespace);
  const again = rollouts.filter(({ before, at }) => before.metadata.uid === canary.uid && at > canary.rolledAt);
  const others = rollouts.filter(({ before }) => before.metadata.uid !== canary.uid);
  // A leader with such a clock does not know the canary.
  const isForged = run.lives.some(({ to = releasedAt, wallOffMs }) => to > canary.rolledAt && wallOffMs > forgedMs);
  if (isForged) return [];
  const { from, until, failedBy } = boundsOf(part, canary, run);
  const wrong = others
    .filter(({ sentAt }) => sentAt < from)
    .map((write) => `${write.what}: it rolled while its canary was ${fate}`);
  if (until < releasedAt && !others.some(({ at }) => at <= until))
    wrong.push(`no workload followed the canary, which was rolled at ${canary.rolledAt} ms`);
  if (again.length > 0 && newerAt === undefined && fate !== "exits")
    wrong.push(...again.map(({ what }) => `${what}: it rolled again while it was stuck`));
  wrong.push(...wrongEvents(events, part, canary.uid, failedBy < releasedAt));
  const later = run.history
    .filter(({ at }) => at > releasedAt)
    .flatMap((entry) => eventOf(entry, part.namespace) ?? []);
  if (later.some(({ reason }) => reason === "RolloutStuck")) wrong.push("an Event reports as stuck what can start");
  if (doneAt === undefined) wrong.push("not every workload was rolled and complete at the end");
  return wrong;
}

/** Returns from when on the others may roll, until when one of them must, and until when a failure of the canary is known. */
function boundsOf(
  { isSecret, fate, newerAt, releasedAt }: PlayedStuck,
  { rolledAt }: { readonly rolledAt: number },
  { settings, lives }: Run,
): Readonly<Record<"from" | "until" | "failedBy", number>> {
  const { rolloutTimeoutMs = 0, haltAfterFailures = 0 } = settings.pacing ?? {};
  const living = lives.filter(({ to = releasedAt }) => to > rolledAt).map((life) => life.wallOffMs);
  const wallOffMs = Math.max(0, ...living);
  const early = rolledAt + rolloutTimeoutMs / drift - slackMs - 2 * wallOffMs;
  const failedBy = rolledAt + drift * rolloutTimeoutMs + noticedMs + 2 * wallOffMs;
  // Complete workloads go first after the newer edit. The canary is no longer complete.
  if (newerAt !== undefined)
    return { from: isSecret ? Math.min(early, newerAt) : newerAt, until: newerAt + noticedMs, failedBy };
  const goesOn = fate === "exits" ? haltAfterFailures === 0 : isSecret;
  return goesOn
    ? { from: early, until: failedBy, failedBy }
    : { from: releasedAt, until: Number.POSITIVE_INFINITY, failedBy };
}

interface ToldEvent {
  readonly uid: string;
  readonly reason: string;
  readonly message: string;
}

function wrongEvents(
  events: readonly ToldEvent[],
  { fate }: PlayedStuck,
  canary: string,
  isOver: boolean,
): readonly string[] {
  const ofFailure = events.filter(({ reason }) => reason === "RolloutFailed" || reason === "RolloutHalted");
  const ofStuck = events.filter(({ reason }) => reason === "RolloutStuck");
  if (fate === "exits")
    return [
      ...ofStuck.map(({ message }) => `a container that ended is reported as stuck: ${message}`),
      ...(!isOver || ofFailure.some(({ uid }) => uid === canary) ? [] : ["no Event reports that the canary failed"]),
    ];
  const isReported = ofStuck.some(({ uid, message }) => uid === canary && message.includes(fate));
  return [
    ...ofFailure.map(({ reason, message }) => `a stuck rollout is reported as ${reason}: ${message}`),
    ...(isReported ? [] : [`no Event reports that the canary is stuck by ${fate}`]),
  ];
}

/** Returns what Wave reports in an Event of the namespace. */
function eventOf({ resource, after }: HistoryEntry, namespace: string): ToldEvent | undefined {
  if (resource !== "events" || after?.metadata.namespace !== namespace) return undefined;
  const { reportingComponent, involvedObject, reason, message } = after as StoredObject & {
    readonly reportingComponent?: string;
    readonly involvedObject?: { readonly uid?: string };
    readonly reason?: string;
    readonly message?: string;
  };
  if (reportingComponent !== "wave") return undefined;
  return { uid: involvedObject?.uid ?? "", reason: reason ?? "", message: message ?? "" };
}
