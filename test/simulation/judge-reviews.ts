import type { ReviewEntry, Run } from "./history.ts";
import { differsElsewhere } from "./judge-fields.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { search } from "./model-search.ts";
import { annotations, gateScheduler, namedBy, optedIn, recordedHash, schedulerOf } from "./model-workload.ts";

/**
 * Each answer of the webhook
 * - touches nothing but the hash, the scheduler and Wave's own annotations;
 * - leaves the hash of the request, puts back the one before, or records what was stored while it was asked, with nothing
 *   required missing;
 * - closes the gate only where it is on and something was missing, or where it keeps a gate that was closed.
 */
export function judgeReviews(run: Run): readonly string[] {
  const timeline = new ConfigTimeline(run.history);
  return run.reviews.flatMap((review) => {
    const { namespace, name } = review.object.metadata;
    const where = `review: ${review.replica} on ${review.object.kind} ${namespace}/${name} at ${review.askedAt} ms`;
    return judge(review, run, timeline).map((what) => `${where}: ${what}`);
  });
}

function judge(review: ReviewEntry, { scenario }: Run, timeline: ConfigTimeline): readonly string[] {
  const { object, oldObject, patched } = review;
  const elsewhere = differsElsewhere(object, patched);
  const violations = elsewhere === undefined ? [] : [`it changed ${elsewhere}, which is not Wave's`];
  const named = namedBy(patched, scenario);
  const range = {
    from: (key: string) => timeline.at(key, review.from),
    to: (key: string) => timeline.at(key, review.to),
  };
  const hash = recordedHash(patched);
  const brought = [recordedHash(object), recordedHash(oldObject)];
  if (!brought.includes(hash)) {
    if (hash === undefined) violations.push("it removed the hash");
    else if (!optedIn(patched, scenario)) violations.push("it recorded a hash although the workload has not opted in");
    else if (search(hash, named, timeline, range) === undefined) {
      violations.push("the hash stands for nothing that was stored, and complete, while it was asked");
    }
  }
  const closed = schedulerOf(patched) === gateScheduler && schedulerOf(object) !== gateScheduler;
  if (closed && patched.metadata.annotations?.[annotations.gate] === undefined) {
    violations.push("it closed the gate without a note of the scheduler before");
  }
  if (closed && !scenario.schedulingGate) violations.push("it closed a gate although gates are off");
  const lacked = named.some(({ key, partOf }) =>
    timeline
      .versions(key)
      .some(({ object: one }, i) => i >= range.from(key) && i <= range.to(key) && partOf(one).missing),
  );
  if (closed && !lacked) violations.push("it closed the gate although nothing was missing");
  return violations;
}
