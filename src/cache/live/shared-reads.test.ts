import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sharedReads } from "./shared-reads.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Reads that end on request of the test, each with its number. */
function manualReads() {
  const under: ((fail?: Error) => void)[] = [];
  let begun = 0;
  let most = 0;
  const read = (_key: string) => {
    const number = ++begun;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const finish = (fail?: Error) => (fail ? reject(fail) : resolve(number));
    under.push(finish);
    most = Math.max(most, under.length);
    return promise;
  };
  const endOldest = async (fail?: Error) => {
    under.shift()?.(fail);
    await tick();
  };
  return { read, endOldest, begun: () => begun, most: () => most };
}

describe("shared reads", () => {
  it("read an object once for all callers that request it while another read of it is in flight", async () => {
    const { read, endOldest, begun } = manualReads();
    const shared = sharedReads(read);
    const answers = [shared("a"), shared("a"), shared("a")];
    expect(begun()).toBe(1);
    await endOldest();
    expect(begun()).toBe(2);
    await endOldest();
    expect(await Promise.all(answers)).toEqual([1, 2, 2]);
    const later = shared("a");
    expect(begun()).toBe(3);
    await endOldest();
    expect(await later).toBe(3);
  });

  it("of different objects do not wait for each other", async () => {
    const { read, begun, most } = manualReads();
    const shared = sharedReads(read);
    for (const key of ["a", "b", "c"]) void shared(key);
    expect({ begun: begun(), most: most() }).toEqual({ begun: 3, most: 3 });
  });

  it("fail for the callers that share the failed read and for no others", async () => {
    const { read, endOldest } = manualReads();
    const shared = sharedReads(read);
    const results = Promise.allSettled([shared("a"), shared("a"), shared("a")]);
    await endOldest(new Error("refused"));
    await endOldest();
    expect((await results).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  });

  it("never return a read that began before the call, and never read one object twice concurrently", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("ask", "end"), { maxLength: 60 }), async (steps) => {
        const { read, endOldest, begun, most } = manualReads();
        const shared = sharedReads(read);
        const asked: { readonly before: number; readonly answer: Promise<number> }[] = [];
        for (const step of steps) {
          if (step === "ask") asked.push({ before: begun(), answer: shared("a") });
          else await endOldest();
        }
        for (let reads = 0; reads < 3; reads++) await endOldest();
        for (const { before, answer } of asked) expect(await answer).toBeGreaterThan(before);
        expect(most()).toBeLessThanOrEqual(1);
      }),
    );
  });
});
