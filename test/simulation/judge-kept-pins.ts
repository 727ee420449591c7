import { patched } from "./judge-reviews.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { isCopy, onlyPods, pinsOf, templateOf } from "./model-pins.ts";
import { asksForNone, isApproved, NamespaceTimeline, namespaceLateMs, saidOf } from "./model-policy.ts";
import { placesOf } from "./model-reading.ts";
import { type Stood, standsFor } from "./model-search.ts";
import { annotations, hasSchedulingHold, namedBy, optedIn, recordedHash } from "./model-workload.ts";
import type { Recording, ReviewEntry, StoredObject } from "./record.ts";

/**
 * Judges what a webhook does with the pins of a workload whose change is on hold or not approved: the new Pods of the request read the same
 * content of each ConfigMap as before. A copy that lacks what the new pod template reads need not stay, so that changed references are not
 * judged.
 */
export function judgeKeptPins(run: Recording): readonly string[] {
  if (!run.settings.pinConfig || run.settings.pacing === undefined) return [];
  const judge = new KeptPinsJudge(run);
  return run.reviews.flatMap((review) => {
    const where = `kept pins: ${review.replica} on ${review.kind} ${review.namespace}/${review.name} at ${review.at} ms`;
    return judge.look(review).map((what) => `${where}: ${what}`);
  });
}

class KeptPinsJudge {
  readonly #run: Recording;
  readonly #timeline: ConfigTimeline;
  readonly #namespaces: NamespaceTimeline;

  constructor(run: Recording) {
    this.#run = run;
    this.#timeline = new ConfigTimeline(run.history);
    this.#namespaces = new NamespaceTimeline(run.history);
  }

  look(review: ReviewEntry): readonly string[] {
    const { object, oldObject, askedRv, answeredRv } = review;
    if (oldObject === undefined || isUnread(review) || !this.#isPinned(review)) return [];
    const pins = pinsOf(templateOf(oldObject));
    if (pins.size === 0 || hasSchedulingHold(oldObject) || hasSchedulingHold(object)) return [];
    // Pins beside no hash may be forged, so that no review restores them. Without an answer of Wave, a client can remove the hash alone.
    if (recordedHash(oldObject) === undefined) return [];
    const result = patched(review);
    const named = namedBy(onlyPods(result), this.#run.settings);
    const written = pinsOf(templateOf(result));
    return [...pins].flatMap(([source, copy]) => {
      const key = `ConfigMap/${review.namespace}/${source}`;
      if (readsOf(oldObject, source) !== readsOf(result, source)) return [];
      const part = named.find((each) => each.key === key)?.partOf;
      const had = this.#read(key, copy, askedRv);
      if (part === undefined || had === undefined || part(had).missing) return [];
      // The API server tries a late review again if its workload has changed, and then its copy may be gone.
      if (this.#read(key, copy, answeredRv) === undefined) return [];
      for (let rv = askedRv; rv <= answeredRv; rv++) if (!this.#isHeld(review, key, rv)) return [];
      const has = this.#read(key, written.get(source), answeredRv);
      return part(has).bytes.equals(part(had).bytes) ? [] : [`new Pods read a change of ${key} that is held`];
    });
  }

  #isPinned({ object, oldObject, at, namespace }: ReviewEntry): boolean {
    const states = this.#namespaces.between(namespace, at - namespaceLateMs, at);
    return [object, oldObject].every(
      (one) =>
        one?.metadata.annotations?.[annotations.pinConfig] === "true" &&
        states.every((state) => optedIn(one, this.#run.settings, state)),
    );
  }

  /** Returns what a Pod reads of a ConfigMap: its copy, or the ConfigMap itself. */
  #read(key: string, copy: string | undefined, rv: number): StoredObject | undefined {
    const [, namespace] = key.split("/");
    const place = copy === undefined ? key : `ConfigMap/${namespace}/${copy}`;
    const stored = this.#timeline.versions(place)[this.#timeline.at(place, rv)]?.object;
    return copy === undefined || (stored !== undefined && isCopy(stored)) ? stored : undefined;
  }

  #isHeld({ object, namespace, at }: ReviewEntry, key: string, rv: number): boolean {
    const { settings } = this.#run;
    const { pacing } = settings;
    if (pacing === undefined) return false;
    const find = (each: string) => this.#timeline.versions(each)[this.#timeline.at(each, rv)]?.object;
    const live = find(key);
    if (live !== undefined && asksForNone(live)) return true;
    const { hash, missing }: Stood = standsFor(namedBy(object, settings), find);
    return this.#namespaces.between(namespace, at - namespaceLateMs, at).every((state) => {
      const said = saidOf(object, state, pacing);
      return said.observes || said.holds || (said.approves && (missing || !isApproved(said, hash)));
    });
  }
}

/** Returns all that the pod spec of a workload reads of a ConfigMap, as text to compare. */
function readsOf(workload: StoredObject, source: string): string {
  return JSON.stringify(
    placesOf(onlyPods(workload)).filter(({ kind, name }) => kind === "ConfigMap" && name === source),
  );
}

/** Reports whether the webhook admitted the request without a decision, because the API server did not answer it in time. */
function isUnread({ warnings }: ReviewEntry): boolean {
  return warnings.some((text) => text.startsWith("Wave did not change this workload yet"));
}
