import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lane } from "./lane.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("a lane", () => {
  it("never lets more through than it has room for, in the order in which they came, but for those that gave up", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.constantFrom("come", "leave", "give up"), { maxLength: 60 }),
        async (room, steps) => {
          const lane = new Lane(room);
          const inside: (() => void)[] = [];
          const entered: number[] = [];
          const waiting: { readonly number: number; readonly giveUp: AbortController }[] = [];
          const gaveUp = new Set<number>();
          let came = 0;
          for (const step of steps) {
            if (step === "come") {
              const number = came++;
              const giveUp = new AbortController();
              waiting.push({ number, giveUp });
              const enters = (leave: () => void) => {
                entered.push(number);
                inside.push(leave);
              };
              lane.enter(giveUp.signal).then(enters, () => gaveUp.add(number));
            } else if (step === "leave") inside.shift()?.();
            else waiting.findLast(({ number }) => !entered.includes(number))?.giveUp.abort();
            await tick();
            expect(inside.length).toBeLessThanOrEqual(room);
          }
          for (let left = 0; left < came; left++) {
            inside.shift()?.();
            await tick();
          }
          expect(entered).toEqual(entered.toSorted((a, b) => a - b));
          expect(entered.length + gaveUp.size).toBe(came);
        },
      ),
    );
  });
});
