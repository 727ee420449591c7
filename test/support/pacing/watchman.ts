import type { PacingFlags } from "../../../src/domain/policy/policy.ts";
import { type ConfigName, configKey } from "../../../src/domain/references/references.ts";
import type { Actor, World } from "./world.ts";

/** Checks every rollout, for tests. It shares no code with Wave: it reads the state of the Pods, not of the API. */
export class Watchman {
  readonly #world: World;
  readonly #flags: PacingFlags;
  readonly #editedAt = new Map<string, number>();
  /** How often each workload was rolled since the last event that requires a rollout. */
  readonly #rollsSince = new Map<Actor, number>();
  #forgot = false;
  /** How often in a row the last hash was written. */
  readonly #sameHash = new Map<Actor, { readonly hash: string; readonly times: number }>();

  constructor(world: World, flags: PacingFlags) {
    this.#world = world;
    this.#flags = flags;
  }

  /** Reports an edit of a ConfigMap. */
  edited(config: ConfigName): void {
    this.#editedAt.set(configKey(config), this.#world.now);
    for (const actor of this.#world.actors) if (reads(actor, config)) this.disturbed(actor);
  }

  /** Reports a restart of Wave, which forgets everything. */
  restarted(): void {
    this.#sameHash.clear();
    this.#forgot = true;
  }

  /** Reports an edit of a workload that requires a rollout. */
  disturbed(actor: Actor): void {
    this.#rollsSince.set(actor, 0);
  }

  /** Checks a rollout right before it starts. Throws if it must not start. */
  judge(actor: Actor): void {
    const { now } = this.#world;
    const { window, hold, batches, resumed, mode, settle } = actor.stored.policy;
    demand(hold !== "true" && mode !== "observe" && settle !== "soon", "is not held", actor);
    demand(isIn(window, now), "is in its window", actor);
    const since = this.#progressSince(actor);
    if (since !== undefined && actor.rollout?.byWave) {
      const over = now - actor.rollout.at >= this.#flags.rolloutTimeoutMs - 1_000;
      demand(over || now - since >= 30_000, "has no previous rollout in progress, unless it stalls", actor);
    }
    if (batches !== "off" && resumed === undefined)
      for (const object of this.#world.changedFor(actor)) this.#judgeBatch(actor, object);
    const rolls = (this.#rollsSince.get(actor) ?? 0) + 1;
    this.#rollsSince.set(actor, rolls);
    demand(rolls === 1, "is rolled once", actor);
    const hash = this.#world.hashOf(actor);
    const before = this.#sameHash.get(actor);
    const times = before?.hash === hash ? before.times + 1 : 1;
    this.#sameHash.set(actor, { hash, times });
    demand(times <= 10, "is written at most ten times", actor);
  }

  /** Throws if any workload was rolled too often. */
  judgeEnd(): void {
    for (const actor of this.#world.actors) {
      const { rolls } = actor;
      for (const [index, from] of rolls.entries()) {
        const within = (ms: number) => rolls.slice(index).filter((at) => at < from + ms).length;
        demand(within(9_000) === 1, "is rolled once in 9 s", actor);
        demand(within(600_000) <= 7, "is rolled at most 7 times in 10 minutes", actor);
        demand(within(3_600_000) <= 30, "is rolled at most 30 times in an hour", actor);
      }
    }
  }

  /** Checks that the other rollouts of the same change in the namespace allow this one. */
  #judgeBatch(actor: Actor, object: ConfigName): void {
    const { maxConcurrent, soakMs, haltAfterFailures, rolloutTimeoutMs } = this.#flags;
    const { now } = this.#world;
    const editedAt = this.#editedAt.get(configKey(object)) ?? 0;
    const known = this.#world.actors.filter((other) => other !== actor).map((other) => this.#asKnown(other, object));
    const others = known.filter((other) => {
      const { policy, namespace } = other.stored;
      // A restarted Wave cannot know that the hash of a complete workload was removed.
      const sees = other.rollout?.byWave ? !isOf(object, this.#world.changedFor(other)) : this.#forgot;
      return policy.batches !== "off" && sees && namespace === actor.stored.namespace && reads(other, object);
    });
    const since = others.flatMap((other) => {
      const { rollout } = other;
      return rollout !== undefined && rollout.at >= editedAt ? [{ ...rollout, other }] : [];
    });
    // Times of the API are whole seconds.
    const passed = since.filter(
      ({ at, other: { shape }, bad }) => !bad && now >= at + shape.pods * shape.podMs + soakMs - 1_000,
    );
    const rolled = since.filter(({ at, again, byWave }) => byWave && !again && !sameSecond(at, editedAt));
    const incomplete = rolled.filter(({ other }) => this.#progressSince(other) !== undefined);
    const [excused, unfinished] = partition(incomplete, ({ other, at }) => isResumedSince(other, at));
    const failed = unfinished.filter(({ other }) => {
      return now - (this.#progressSince(other) ?? now) >= rolloutTimeoutMs - 1_000;
    });
    const shown = failed.filter(({ wasComplete }) => wasComplete);
    demand(unfinished.length - failed.length < maxConcurrent, "rolls within the limit of concurrent rollouts", actor);
    const shows = rolled.filter((rollout) => rollout.wasComplete && !excused.includes(rollout));
    const isFirst = shows.length === 0;
    demand(isFirst || passed.length > 0, "is of the canary, or the canary has passed", actor);
    demand(shown.length < haltAfterFailures, "is not halted", actor);
  }

  /** Returns a workload as it was known at the decision, if it rolls at this same moment for another change. */
  #asKnown(other: Actor, object: ConfigName): Actor {
    const { rollout } = other;
    if (!rollout?.byWave || rollout.at < this.#world.now || isOf(object, rollout.changed)) return other;
    const { before, wasComplete } = rollout;
    // A workload that is rolled while it is not complete shows no result of an earlier change any more.
    return { ...other, rollout: before && { ...before, wasComplete: before.wasComplete && wasComplete } };
  }

  /** Returns the last progress of an unfinished rollout, milliseconds since the epoch; undefined if it is finished. */
  #progressSince({ rollout, shape: { pods, podMs } }: Actor): number | undefined {
    if (rollout === undefined) return undefined;
    if (rollout.bad) return rollout.at;
    const steps = Math.floor((this.#world.now - rollout.at) / podMs);
    return steps >= pods ? undefined : rollout.at + steps * podMs;
  }
}

function reads(actor: Actor, config: ConfigName): boolean {
  return isOf(config, actor.stored.references);
}

function isOf(config: ConfigName, all: readonly ConfigName[]): boolean {
  return all.some((each) => configKey(each) === configKey(config));
}

/** Reports whether a time is in one of the windows of the histories. */
function isIn(window: string | undefined, now: number): boolean {
  const minutes = Math.floor(now / 60_000) % 1_440;
  switch (window) {
    case undefined:
      return true;
    case "Mon-Sun 12:30-14:00":
      return minutes >= 750 && minutes < 840;
    default:
      return minutes >= 1_320 || minutes < 120;
  }
}

/** Reports whether a person resumed a workload after a rollout began, so that the others do not wait for its result. */
function isResumedSince({ stored: { policy } }: Actor, at: number): boolean {
  return policy.resumed !== undefined && Date.parse(policy.resumed) >= at;
}

/** Returns what matches, and the rest. */
function partition<T>(all: readonly T[], matches: (each: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(matches), all.filter((each) => !matches(each))];
}

/** Reports whether two times are in one second: then a restarted Wave cannot know their order. */
function sameSecond(a: number, b: number): boolean {
  return Math.floor(a / 1000) === Math.floor(b / 1000);
}

function demand(isSo: boolean, what: string, { key }: Actor): void {
  if (!isSo) throw new Error(`expected that ${key} ${what}`);
}
