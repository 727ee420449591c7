import type { HistoryEntry, ReviewEntry, Run, StoredObject } from "./history.ts";
import { differsElsewhere } from "./judge-fields.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { type Moment, type Range, search } from "./model-search.ts";
import {
  gateScheduler,
  hasGate,
  namedBy,
  optedIn,
  recordedHash,
  schedulerOf,
  workloadResources,
} from "./model-workload.ts";

/** What is known of a workload when its next write is judged. */
interface Known {
  /** Of each object, by its key, the newest state that a recorded hash was seen to stand for: nothing may go below it. */
  readonly newest: Map<string, number>;
  /** Whether somebody else has written it since Wave recorded a hash. */
  touched: boolean;
}

/**
 * Each write of a workload by Wave's controller
 * - touches nothing but the hash, the scheduler and Wave's own annotations;
 * - records a hash only where it has opted in, and lifts a gate, but never closes one;
 * - stands for configuration that was stored, of each object not before what the recorded hash stood for when somebody
 *   who knew it set it (Wave itself, or admission): nothing newer is undone;
 * - is for something new: other configuration than the last write, or a workload that others have written since;
 * - happens while nothing required is missing in that configuration.
 *
 * A hash that a person brings back, as `rollout undo` does, says nothing about what is stored, so it moves no bound.
 */
export function judgeWrites(run: Run): readonly string[] {
  const judge = new WriteJudge(run);
  return run.history.flatMap((entry, index) => judge.look(entry, index));
}

class WriteJudge {
  readonly #run: Run;
  readonly #timeline: ConfigTimeline;
  readonly #known = new Map<string, Known>();

  constructor(run: Run) {
    this.#run = run;
    this.#timeline = new ConfigTimeline(run.history);
  }

  look(entry: HistoryEntry, index: number): readonly string[] {
    const { resource, before, after, by } = entry;
    if (!workloadResources.includes(resource)) return [];
    if (by.actor !== "wave") {
      if (after !== undefined && by.actor === "world") this.#writtenByOthers(before, after, index);
      return [];
    }
    const { namespace, name } = (after ?? before)?.metadata ?? {};
    const named = (what: string) =>
      `write: ${by.replica} on ${resource} ${namespace}/${name} at ${entry.at} ms: ${what}`;
    if (before === undefined || after === undefined) return [named("Wave neither creates nor deletes workloads")];
    return this.#judge(before, after, index).map(named);
  }

  #writtenByOthers(before: StoredObject | undefined, after: StoredObject, index: number): void {
    const known = this.#knownOf(after);
    known.touched = true;
    const hash = recordedHash(after);
    if (hash === undefined || hash === recordedHash(before)) return;
    const named = namedBy(after, this.#run.scenario);
    const now = (key: string) => this.#timeline.at(key, index);
    const review = this.#reviewOf(after, index);
    const asked = review && { from: (key: string) => this.#timeline.at(key, review.from), to: now };
    const ranges = [{ from: now, to: now }, ...(asked ? [asked] : [])];
    const moments = ranges.map((range) => search(hash, named, this.#timeline, range, { wanted: "latest" }));
    const moment = moments.find((found) => found !== undefined);
    if (moment !== undefined && moment !== "too many") raise(known, moment);
  }

  /** The review that put the hash into what somebody wrote. */
  #reviewOf(after: StoredObject, index: number): ReviewEntry | undefined {
    return this.#run.reviews.findLast(({ to, object, oldObject, patched }) => {
      if (to > index || !sameName(patched, after) || recordedHash(patched) !== recordedHash(after)) return false;
      return recordedHash(object) !== recordedHash(after) && recordedHash(oldObject) !== recordedHash(after);
    });
  }

  #judge(before: StoredObject, after: StoredObject, index: number): readonly string[] {
    const { scenario } = this.#run;
    const elsewhere = differsElsewhere(before, after);
    const violations = elsewhere === undefined ? [] : [`it changed ${elsewhere}, which is not Wave's`];
    const hashChanged = recordedHash(before) !== recordedHash(after);
    const opened = hasGate(before) && !hasGate(after);
    if (schedulerOf(before) !== schedulerOf(after) && schedulerOf(before) !== gateScheduler) {
      violations.push("it changed a scheduler that is not the gate's");
    }
    if (!hashChanged && !opened) violations.push("it changed neither the hash nor the gate");
    if (!optedIn(before, scenario)) {
      return hashChanged ? [...violations, "it recorded a hash although the workload has not opted in"] : violations;
    }
    if (!hashChanged && !scenario.schedulingGate) return violations;
    return [...violations, ...this.#judgeHash(before, after, index)];
  }

  #judgeHash(before: StoredObject, after: StoredObject, index: number): readonly string[] {
    const hash = recordedHash(after);
    if (hash === undefined) return ["it removed the hash"];
    const named = namedBy(before, this.#run.scenario);
    const known = this.#knownOf(before);
    const timeline = this.#timeline;
    const now = (key: string) => timeline.at(key, index);
    const range: Range = { from: (key) => known.newest.get(key) ?? 0, to: now };
    const moment = search(hash, named, timeline, range);
    if (moment === "too many") return [];
    if (moment !== undefined) {
      const advanced = [...moment].some(([key, number]) => number > (known.newest.get(key) ?? -1));
      const again = !advanced && !known.touched && recordedHash(before) !== undefined;
      raise(known, moment);
      known.touched = false;
      return again ? ["it is a second write for one change"] : [];
    }
    if (search(hash, named, timeline, range, { incomplete: true }) !== undefined) {
      return ["something required was missing whenever the configuration was what the hash stands for"];
    }
    if (search(hash, named, timeline, { from: () => 0, to: now }) !== undefined) {
      return ["it undoes what is newer: the recorded hash stood for configuration that was stored later"];
    }
    return ["the hash stands for no configuration that was ever stored"];
  }

  #knownOf({ metadata }: StoredObject): Known {
    let known = this.#known.get(metadata.uid);
    if (known === undefined) {
      known = { newest: new Map(), touched: true };
      this.#known.set(metadata.uid, known);
    }
    return known;
  }
}

function raise({ newest }: Known, moment: Moment): void {
  for (const [key, number] of moment) newest.set(key, Math.max(number, newest.get(key) ?? 0));
}

function sameName(a: StoredObject, b: StoredObject): boolean {
  const { namespace, name } = a.metadata;
  return a.kind === b.kind && namespace === b.metadata.namespace && name === b.metadata.name;
}
