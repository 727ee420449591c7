import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SlotPool } from "./slot-pool.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("a slot pool", () => {
  it("never exceeds its size, and serves waiting callers in order, except those that aborted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.constantFrom("come", "leave", "give up"), { maxLength: 60 }),
        async (room, steps) => {
          const lane = new SlotPool(room);
          const inside: Disposable[] = [];
          const entered: number[] = [];
          const waiting: { readonly number: number; readonly giveUp: AbortController }[] = [];
          const gaveUp = new Set<number>();
          let came = 0;
          for (const step of steps) {
            if (step === "come") {
              const number = came++;
              const giveUp = new AbortController();
              waiting.push({ number, giveUp });
              const enters = (place: Disposable) => {
                entered.push(number);
                inside.push(place);
              };
              lane.acquire(giveUp.signal).then(enters, () => gaveUp.add(number));
            } else if (step === "leave") inside.shift()?.[Symbol.dispose]();
            else waiting.findLast(({ number }) => !entered.includes(number))?.giveUp.abort();
            await tick();
            expect(inside.length).toBeLessThanOrEqual(room);
          }
          for (let left = 0; left < came; left++) {
            inside.shift()?.[Symbol.dispose]();
            await tick();
          }
          expect(entered).toEqual(entered.toSorted((a, b) => a - b));
          expect(entered.length + gaveUp.size).toBe(came);
        },
      ),
    );
  });

  it("has memory for each slot, as large as requested, which the next holder reuses", async () => {
    const { signal } = new AbortController();
    const lane = new SlotPool(1);
    const first = await lane.acquire(signal);
    const memory = first.memory(100);
    const waiting = lane.acquire(signal);
    first[Symbol.dispose]();
    const second = await waiting;
    expect(second.memory(60).buffer).toBe(memory.buffer);
    expect(second.memory(60).length).toBe(60);
    const more = second.memory(200);
    second[Symbol.dispose]();
    expect((await lane.acquire(signal)).memory(100).buffer).toBe(more.buffer);
  });
});
