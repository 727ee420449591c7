import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { defaultPolicy } from "../../../test/support/domain/objects.ts";
import { Conductor } from "../../../test/support/pacing/conductor.ts";
import { defaultFlags, noon } from "../../../test/support/pacing/due.ts";
import { Watchman } from "../../../test/support/pacing/watchman.ts";
import { type Actor, type Shape, World } from "../../../test/support/pacing/world.ts";

const configs = 3;
const flags = { ...defaultFlags, maxConcurrent: 2, haltAfterFailures: 2 };
const policy = { ...defaultPolicy, pacing: flags };

const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const shape: fc.Arbitrary<Shape> = fc
  .record({
    namespace: fc.constantFrom("red", "blue"),
    kind: fc.constantFrom("Deployment", "StatefulSet"),
    reads: fc.uniqueArray(fc.nat(configs - 1), { minLength: 1 }),
    pods: fc.integer({ min: 1, max: 3 }),
    podMs: fc.constantFrom(1_000, 7_000, 45_000),
    priority: sometimes(fc.constantFrom("5", "-5")),
    batches: sometimes(fc.constantFrom("off")),
    mode: sometimes(fc.constantFrom("approve")),
    window: sometimes(fc.constantFrom("Mon-Sun 12:30-14:00", "Mon-Sun 22:00-02:00")),
    settle: sometimes(fc.constantFrom("30s")),
    interval: sometimes(fc.constantFrom("15m")),
  })
  .map(({ namespace, kind, reads, pods, podMs, interval, ...rest }) => {
    const all = Object.entries({ ...rest, "min-interval": interval });
    return { namespace, kind, reads, pods, podMs, policy: Object.fromEntries(all.flatMap(writtenOnly)) };
  });

/** Many workloads of one namespace that read the same objects, mostly without pacing annotations. */
const crowd: fc.Arbitrary<readonly Shape[]> = fc.array(
  fc.record({
    namespace: fc.constant("red"),
    kind: fc.constantFrom("Deployment", "StatefulSet"),
    reads: fc.constantFrom([0], [0], [0], [0, 1]),
    pods: fc.constant(2),
    podMs: fc.constantFrom(7_000, 45_000),
    policy: fc.constantFrom({}, {}, {}, { priority: "5" }),
  }),
  { minLength: 5, maxLength: 8 },
);

function writtenOnly([name, value]: readonly [string, string | undefined]): readonly (readonly [string, string])[] {
  return value === undefined ? [] : [[name, value]];
}

type Act =
  | { readonly does: "edit"; readonly config: number; readonly value: string }
  | { readonly does: "undo" | "strip" | "hold" | "release" | "resume" | "observe" | "garble"; readonly actor: number }
  | { readonly does: "restart" };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("edit"),
      config: fc.constantFrom(0, 0, 0, 1, 2),
      value: fc.constantFrom("good", "good1", "good2", "bad1", "bad2"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom("undo", "strip", "hold", "release", "resume", "observe", "garble"),
      actor: fc.nat(5),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("restart") }) },
);
const afterMs = fc.constantFrom(0, 300, 900, 5_000, 15_000, 40_000, 700_000, 5_000_000);
const history = fc.array(fc.tuple(afterMs, act), { maxLength: 20 });

/** One history from its start until nothing is left to do. */
class Play {
  readonly world: World;
  readonly conductor: Conductor;
  readonly watchman: Watchman;
  /** Workloads from which another client removes the hash as soon as Wave writes it. */
  readonly #stripped = new Set<Actor>();

  constructor(shapes: readonly Shape[]) {
    this.world = new World(shapes, configs, noon + 123);
    this.conductor = new Conductor(this.world, policy);
    this.watchman = new Watchman(this.world, flags);
  }

  /** Advances the time to each moment at which something happens, one after the other. */
  passUntil(end: number): void {
    for (let moments = 0; ; moments++) {
      expect(moments).toBeLessThan(5_000);
      while (this.conductor.conduct((actor) => this.watchman.judge(actor))) this.#strip();
      const next = Math.min(this.world.next(), this.conductor.next());
      if (next > end || next === Number.POSITIVE_INFINITY) break;
      this.world.now = next;
    }
    if (end !== Number.POSITIVE_INFINITY) this.world.now = end;
  }

  act(what: Act): void {
    switch (what.does) {
      case "edit":
        this.#edit(what.config, what.value);
        break;
      case "restart":
        this.conductor.restart();
        this.watchman.restarted();
        break;
      case "undo":
        this.#of(what.actor, (actor) => this.#undo(actor));
        break;
      case "strip":
        this.#of(what.actor, (actor) => this.#stripped.add(actor));
        break;
      case "hold":
        this.#of(what.actor, (actor) => annotate(actor, "hold", "true"));
        break;
      case "observe":
        this.#of(what.actor, (actor) => annotate(actor, "mode", "observe"));
        break;
      case "garble":
        this.#of(what.actor, (actor) => annotate(actor, "settle", "soon"));
        break;
      case "release":
        this.#of(what.actor, (actor) => annotate(actor, "hold", "false"));
        break;
      case "resume":
        this.#of(what.actor, (actor) => annotate(actor, "resumed", new Date(this.world.now).toISOString()));
    }
  }

  /** Follows the next step in the message of every hold. Time has ended the others. */
  doWhatHoldsSay(): void {
    for (const actor of this.world.actors) {
      const plan = this.conductor.plans.get(actor.key);
      if (plan?.outcome !== "held") continue;
      const { reason, message, until } = plan.hold;
      expect(until, `${reason} has a time that is past`).toBeUndefined();
      const approved = /approved: "([0-9a-f]{8})"/.exec(message)?.[1];
      if (reason === "hold") annotate(actor, "hold", "false");
      else if (reason === "observed" && message.includes("/mode")) annotate(actor, "mode", "roll");
      else if (reason === "invalid" && message.includes('/settle is "soon", not a duration'))
        annotate(actor, "settle", "1s");
      else if (reason === "approval" && approved !== undefined) annotate(actor, "approved", approved);
      else if (reason === "halted" && message.includes("wave resume"))
        annotate(actor, "resumed", new Date(this.world.now).toISOString());
      else if (reason === "batch" && message.includes("Starts when they are complete")) continue;
      else if (reason === "reverted" && message.includes("until the configuration changes"))
        this.#edit(actor.shape.reads[0] ?? 0, `good ${this.world.now}`);
      else expect.fail(`${reason} has no next step: ${message}`);
    }
  }

  /** Ends all permanent faults: bad values and removed hashes. */
  mend(): void {
    this.#stripped.clear();
    for (let config = 0; config < configs; config++) if (this.world.isBad(config)) this.#edit(config, "good at last");
  }

  #strip(): void {
    for (const actor of this.#stripped) if (actor.stored.recordedHash === this.world.hashOf(actor)) this.#undo(actor);
  }

  #undo(actor: Actor): void {
    this.world.undo(actor);
    this.watchman.disturbed(actor);
  }

  #edit(config: number, value: string): void {
    const name = this.world.edit(config, value);
    if (name === undefined) return;
    this.conductor.changed(name);
    this.watchman.edited(name);
  }

  #of(index: number, act: (actor: Actor) => void): void {
    const actor = this.world.actors[index];
    if (actor !== undefined) act(actor);
  }
}

function annotate(actor: Actor, name: string, value: string): void {
  actor.stored = { ...actor.stored, policy: { ...actor.stored.policy, [name]: value } };
}

describe("any history of workloads and their configuration", () => {
  it("ends with one rollout of the last state after all holds have ended, without any forbidden rollout", () => {
    fc.assert(
      fc.property(fc.oneof(crowd, fc.array(shape, { minLength: 1, maxLength: 6 })), history, (shapes, acts) => {
        const play = new Play(shapes);
        for (const [ms, what] of acts) {
          play.passUntil(play.world.now + ms);
          play.act(what);
        }
        play.passUntil(play.world.now + 1_000);
        play.mend();
        play.passUntil(Number.POSITIVE_INFINITY);
        for (let round = 0; round < 10; round++) {
          play.doWhatHoldsSay();
          play.passUntil(Number.POSITIVE_INFINITY);
        }
        const { world, watchman } = play;
        for (const actor of world.actors) expect(actor.stored.recordedHash).toBe(world.hashOf(actor));
        watchman.judgeEnd();
      }),
      { numRuns: inject("everything") ? 300 : 40 },
    );
  });
});
