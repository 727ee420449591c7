import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { processorMs } from "../../test/support/processor-time.ts";
import { type Urgency, WorkQueue } from "./work-queue.ts";

type Step =
  | { readonly do: "add"; readonly key: string; readonly urgency: Urgency; readonly delayMs: number }
  | { readonly do: "take" }
  | { readonly do: "finish"; readonly which: number }
  | { readonly do: "advance"; readonly ms: number };

const key = fc.constantFrom("a/1", "a/2", "b/1", "b/2", "c/1");
const flowOf = (each: string) => each.slice(0, 1);
const delayMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 }));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    key,
    urgency: fc.constantFrom<Urgency>("next", "high", "low"),
    delayMs,
  }),
  fc.constant({ do: "take" as const }),
  fc.record({ do: fc.constant("finish" as const), which: fc.nat() }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 200 }) }),
);

/** A queue and its workers, which check at each step what they were promised. */
class Rig {
  readonly clock = new FakeClock();
  readonly queue = new WorkQueue({ clock: this.clock, flowOf });
  readonly running = new Set<string>();
  /** Keys that were added since the start of their last run. */
  readonly asked = new Set<string>();
  /** The end of the longest requested delay. */
  settledAt = 0;
  /** Promises that the queue did not keep. */
  readonly broken: string[] = [];
  #waiting = 0;

  async run(each: Step): Promise<void> {
    switch (each.do) {
      case "add":
        this.asked.add(each.key);
        this.settledAt = Math.max(this.settledAt, this.clock.monotonic() + each.delayMs);
        return this.queue.add(each.key, each);
      case "take":
        return this.take();
      case "finish":
        return this.finish([...this.running][each.which % Math.max(1, this.running.size)]);
      case "advance":
        return this.clock.advance(each.ms);
    }
  }

  async take(): Promise<void> {
    this.#waiting++;
    void this.queue.get().then((taken) => {
      this.#waiting--;
      if (taken === undefined) return;
      if (this.running.has(taken)) this.broken.push(`${taken} runs twice at once`);
      if (!this.asked.delete(taken)) this.broken.push(`${taken} runs though nobody asked`);
      this.running.add(taken);
    });
    await this.clock.advance(0);
  }

  async finish(done: string | undefined): Promise<void> {
    if (done === undefined) return;
    this.running.delete(done);
    this.queue.done(done);
    await this.clock.advance(0);
  }

  /** Lets every delay pass and workers work until there is nothing left for them. */
  async drain(): Promise<void> {
    await this.clock.advance(Math.max(0, this.settledAt - this.clock.monotonic()));
    for (let permits = 0; permits < 1000 && (this.running.size > 0 || this.asked.size > 0); permits++) {
      for (const each of this.running) await this.finish(each);
      if (this.#waiting === 0) await this.take();
      if (this.running.size === 0) break;
    }
  }
}

describe("WorkQueue under any interleaving", () => {
  it("loses nothing, never runs a key twice at once, and runs each key after its last add", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), async (steps) => {
        const rig = new Rig();
        for (const each of steps) await rig.run(each);
        await rig.drain();
        expect(rig.broken).toEqual([]);
        expect([...rig.asked]).toEqual([]);
        expect([...rig.running]).toEqual([]);
        expect([rig.queue.depth, rig.queue.delayed, rig.clock.pending]).toEqual([0, 0, 0]);
        rig.queue.close();
      }),
      { numRuns: 300 },
    );
  });

  it("returns delayed keys in the order of their due times, regardless of earlier changes", async () => {
    const delay = fc.record({ name: fc.integer({ min: 0, max: 40 }), ms: fc.integer({ min: 1, max: 1000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(delay, { maxLength: 120, size: "max" }), async (delays) => {
        const clock = new FakeClock();
        const queue = new WorkQueue({ clock, flowOf: () => "" });
        const due = new Map<string, number>();
        for (const { name, ms } of delays) {
          queue.add(`${name}`, { delayMs: ms });
          due.set(`${name}`, Math.min(ms, due.get(`${name}`) ?? ms));
        }
        await clock.advance(1000);
        const times: (number | undefined)[] = [];
        while (queue.depth > 0) times.push(due.get((await queue.get()) ?? ""));
        expect(times).toEqual([...due.values()].sort((a, b) => a - b));
      }),
    );
  });

  it("adds and returns 32,000 keys in about the time that 64 queues of 500 need", async () => {
    const fill = async (keys: number) => {
      const queue = new WorkQueue({ clock: new FakeClock(), flowOf: () => "" });
      for (let i = 0; i < keys; i++) queue.add(`key-${i}`, { delayMs: i % 2 });
      for (let i = 0; i < keys; i++) queue.add(`key-${i}`, { urgency: "low" });
      let taken = 0;
      for (; queue.depth > 0; taken++) queue.done((await queue.get()) ?? "");
      expect(taken).toBe(keys);
    };
    const costOf = (queues: number, keys: number) =>
      processorMs(async () => {
        for (let i = 0; i < queues; i++) await fill(keys);
      });
    // The least of some runs: a collection of garbage in one of them only adds.
    let [one, many] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let run = 0; run < 5; run++) {
      one = Math.min(one, await costOf(1, 32_000));
      many = Math.min(many, await costOf(64, 500));
    }
    // Linear is 1, quadratic 64.
    expect(one / many).toBeLessThan(16);
  });
});
