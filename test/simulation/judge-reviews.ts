import type { Json } from "../../sandbox/objects/json.ts";
import { applyJsonPatch } from "../../sandbox/patches/json-patch.ts";
import { differsElsewhere } from "./judge-fields.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { pinsOf, templateOf } from "./model-pins.ts";
import { NamespaceTimeline, namespaceLateMs, saidOf } from "./model-policy.ts";
import { type Range, search } from "./model-search.ts";
import { annotations, namedBy, optedIn, recordedHash, schedulerOf, schedulerOnHold } from "./model-workload.ts";
import type { Recording, ReviewEntry, StoredObject } from "./record.ts";

/**
 * Judges each answer of the webhook:
 * - It changes only the hash, the scheduler and the annotations of Wave.
 * - It keeps the hash of the request, restores the previous hash, or records the configuration that was stored during the
 *   review, with nothing required missing.
 * - It sets a scheduling hold only if holds are enabled and something was missing, or if the workload already had the hold.
 */
export function judgeReviews(run: Recording): readonly string[] {
  const timeline = new ConfigTimeline(run.history);
  const namespaces = new NamespaceTimeline(run.history);
  return run.reviews.flatMap((review) => {
    const where = `review: ${review.replica} on ${review.kind} ${review.namespace}/${review.name} at ${review.at} ms`;
    const states = namespaces.between(review.namespace, review.at - namespaceLateMs, review.at);
    return judge(review, run, timeline, states).map((what) => `${where}: ${what}`);
  });
}

function judge(
  review: ReviewEntry,
  { settings }: Recording,
  timeline: ConfigTimeline,
  /** The recent states of its Namespace, because its annotations may be known late. */
  namespaces: readonly (StoredObject | undefined)[],
): readonly string[] {
  const { object, oldObject } = review;
  const result = patched(review);
  const elsewhere = differsElsewhere(object, result);
  const violations = elsewhere === undefined ? [] : [`it changed ${elsewhere}, which is not Wave's`];
  const named = namedBy(result, settings);
  const range = {
    from: (key: string) => timeline.at(key, review.askedRv),
    to: (key: string) => timeline.at(key, review.answeredRv),
  };
  const hash = recordedHash(result);
  const brought = [recordedHash(object), recordedHash(oldObject)];
  if (!brought.includes(hash)) {
    if (hash === undefined) violations.push("it removed the hash");
    else if (!namespaces.some((of) => optedIn(result, settings, of)))
      violations.push("it recorded a hash although the workload has not opted in");
    else if (search(hash, named, ...withCopies(result, timeline, range, review.answeredRv)) === undefined) {
      violations.push("the hash stands for nothing that was stored, and complete, while it was asked");
    }
  }
  const closed = schedulerOf(result) === schedulerOnHold && schedulerOf(object) !== schedulerOnHold;
  if (closed && result.metadata.annotations?.[annotations.schedulingHold] === undefined) {
    violations.push("it closed the scheduling hold without a note of the scheduler before");
  }
  const { pacing } = settings;
  const observes = pacing !== undefined && namespaces.every((of) => saidOf(result, of, pacing).observes);
  if (observes && !brought.includes(hash)) violations.push("it recorded a hash although nothing is to be written");
  if (observes && closed) violations.push("it closed a scheduling hold although nothing is to be written");
  if (closed && !settings.schedulingHold)
    violations.push("it closed a scheduling hold although scheduling holds are off");
  // The grants of another namespace are known from caches, which may be stale: nothing is read before the grant.
  const since = (key: string) => (key.split("/")[1] === review.namespace ? range.from(key) : 0);
  const lacked = named.some(({ key, partOf }) =>
    timeline.versions(key).some(({ object: one }, i) => i >= since(key) && i <= range.to(key) && partOf(one).missing),
  );
  if (closed && !lacked) violations.push("it closed the scheduling hold although nothing was missing");
  return violations;
}

/** Returns the states of a search in which a pinned ConfigMap may also have the content of its copy: Pods keep it while a change is held. */
function withCopies(
  result: StoredObject,
  timeline: ConfigTimeline,
  { from, to }: Range,
  rv: number,
): readonly [Pick<ConfigTimeline, "versions">, Range] {
  const pins = pinsOf(templateOf(result));
  const versions = (key: string) => {
    const [kind, namespace, name = ""] = key.split("/");
    const copy = namespace === result.metadata.namespace && kind === "ConfigMap" ? pins.get(name) : undefined;
    const stored = timeline.versions(key).slice(from(key), to(key) + 1);
    if (copy === undefined) return stored;
    const place = `ConfigMap/${namespace}/${copy}`;
    return [...stored, ...timeline.versions(place).slice(timeline.at(place, rv)).slice(0, 1)];
  };
  return [{ versions }, { from: () => 0, to: (key) => versions(key).length - 1 }];
}

/** Returns the object of the request with the patch of the answer. */
export function patched({ object, patch }: ReviewEntry): StoredObject {
  if (patch === undefined || patch.length === 0) return object;
  return applyJsonPatch(object as unknown as Json, patch as unknown as Json) as unknown as StoredObject;
}
