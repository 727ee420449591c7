import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { type Urgency, WorkQueue } from "./work-queue.ts";

function newQueue() {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, flowOf: (key) => key.slice(0, key.indexOf("/") + 1) });
  return { clock, queue };
}

/** Takes everything that can be taken now. */
async function takeAll(queue: WorkQueue): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = [];
  while (queue.depth > 0) keys.push(await queue.get());
  return keys;
}

describe("WorkQueue", () => {
  it("contains a key once, even if it is added often", async () => {
    const { queue } = newQueue();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    expect(queue.depth).toBe(2);
    expect(await takeAll(queue)).toEqual(["a", "b"]);
  });

  it("returns high before low priority, in order within each priority", async () => {
    const { queue } = newQueue();
    const added: [string, Urgency][] = [
      ["l1", "low"],
      ["h1", "high"],
      ["l2", "low"],
      ["h2", "high"],
    ];
    for (const [key, urgency] of added) queue.add(key, { urgency });
    expect(await takeAll(queue)).toEqual(["h1", "h2", "l1", "l2"]);
  });

  it("moves a key from low to high, and never back", async () => {
    const { queue } = newQueue();
    for (const key of ["a", "b", "c"]) queue.add(key, { urgency: "low" });
    queue.add("c", { urgency: "high" });
    queue.add("c", { urgency: "low" });
    expect(await takeAll(queue)).toEqual(["c", "a", "b"]);
  });

  it("does not return a key that is added while it runs before done, and then runs it again", async () => {
    const { queue } = newQueue();
    queue.add("a");
    expect(await queue.get()).toBe("a");
    queue.add("a");
    queue.add("a");
    expect(queue.depth).toBe(0);
    queue.done("a");
    expect(await takeAll(queue)).toEqual(["a"]);
    queue.done("a");
    expect(queue.depth).toBe(0);
  });

  it("returns keys to waiting workers in the order of their arrival", async () => {
    const { queue } = newQueue();
    const workers = [queue.get(), queue.get()];
    queue.add("a");
    queue.add("b");
    expect(await Promise.all(workers)).toEqual(["a", "b"]);
  });

  it("holds a delayed key back until its time", async () => {
    const { clock, queue } = newQueue();
    queue.add("late", { delayMs: 500 });
    queue.add("early", { delayMs: 100 });
    expect([queue.depth, queue.delayed]).toEqual([0, 2]);
    const first = queue.get();
    await clock.advance(99);
    expect(queue.delayed).toBe(2);
    await clock.advance(1);
    expect(await first).toBe("early");
    await clock.advance(400);
    expect(await takeAll(queue)).toEqual(["late"]);
  });

  it("runs a delayed key at once when it is added without delay", async () => {
    const { clock, queue } = newQueue();
    queue.add("a", { delayMs: 60_000 });
    queue.add("a");
    expect(await queue.get()).toBe("a");
    queue.done("a");
    await clock.advance(60_000);
    expect(queue.depth).toBe(0);
  });

  it("keeps the earlier time and the higher priority of several delayed adds", async () => {
    const { clock, queue } = newQueue();
    queue.add("first", { urgency: "low", delayMs: 10 });
    queue.add("a", { urgency: "low", delayMs: 10 });
    queue.add("a", { urgency: "high", delayMs: 1000 });
    await clock.advance(10);
    expect(await takeAll(queue)).toEqual(["a", "first"]);
  });

  it("counts the delay of a key that runs from the add, not from done", async () => {
    const { clock, queue } = newQueue();
    queue.add("a");
    await queue.get();
    queue.add("a", { delayMs: 100 });
    await clock.advance(60);
    queue.done("a");
    await clock.advance(39);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it("uses one timer for all delayed keys, and none when there is nothing to wait for", async () => {
    const { clock, queue } = newQueue();
    for (let i = 100; i > 0; i--) queue.add(`key-${i}`, { delayMs: i * 10 });
    expect(clock.pending).toBe(1);
    await clock.advance(1000);
    expect(queue.depth).toBe(100);
    expect(clock.pending).toBe(0);
  });

  it("waits longer than setTimeout can count", async () => {
    const { clock, queue } = newQueue();
    queue.add("a", { delayMs: 2 ** 32 });
    await clock.advance(2 ** 32 - 1);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it("returns keys from flows in turn, one key of each, regardless of the number and priority of other keys", async () => {
    const { queue } = newQueue();
    for (let i = 0; i < 3; i++) queue.add(`a/${i}`);
    queue.add("b/0", { urgency: "low" });
    queue.add("b/1");
    queue.add("c/0", { urgency: "low" });
    expect(await takeAll(queue)).toEqual(["a/0", "b/1", "c/0", "a/1", "b/0", "a/2"]);
  });

  it("returns a key with priority next before every other key of every flow, also if the key already waits", async () => {
    const { queue } = newQueue();
    for (const key of ["a/0", "b/0", "a/1"]) queue.add(key);
    queue.add("a/1", { urgency: "next" });
    queue.add("c/0", { urgency: "next" });
    queue.add("c/0");
    expect(await takeAll(queue)).toEqual(["a/1", "c/0", "a/0", "b/0"]);
  });

  it("keeps the highest priority of the adds during a run", async () => {
    const { queue } = newQueue();
    queue.add("a/0");
    await queue.get();
    queue.add("a/0", { urgency: "next" });
    queue.add("a/0", { urgency: "low" });
    queue.add("b/0");
    queue.done("a/0");
    expect(await takeAll(queue)).toEqual(["a/0", "b/0"]);
  });

  it("returns no more keys of a flow at a time than allowed, and keys of other flows meanwhile", async () => {
    const queue = new WorkQueue({ clock: new FakeClock(), flowOf: (key) => key.slice(0, 1), mostOfFlow: 2 });
    for (const key of ["a0", "a1", "a2"]) queue.add(key);
    queue.add("a3", { urgency: "next" });
    expect([await queue.get(), await queue.get()]).toEqual(["a3", "a0"]);
    const waiting = queue.get();
    queue.add("b0", { urgency: "low" });
    expect(await waiting).toBe("b0");
    const next = queue.get();
    queue.done("b0");
    queue.done("a0");
    expect(await next).toBe("a1");
    expect(queue.depth).toBe(1);
  });

  it("keeps little memory for a key that is added again and again with earlier times", async () => {
    const { clock, queue } = newQueue();
    for (let ms = 100_000; ms > 0; ms--) queue.add("a", { delayMs: ms });
    expect([queue.delayed, clock.pending]).toEqual([1, 1]);
    await clock.advance(1);
    expect(await takeAll(queue)).toEqual(["a"]);
    queue.done("a");
    await clock.advance(100_000);
    expect([queue.depth, queue.delayed, clock.pending]).toEqual([0, 0, 0]);
  });
});

describe("WorkQueue.close", () => {
  it("ends every next, drops waiting keys and rejects new keys", async () => {
    const { clock, queue } = newQueue();
    const waiting = [queue.get(), queue.get()];
    queue.add("delayed", { delayMs: 10 });
    queue.close();
    queue.add("new");
    await clock.advance(1000);
    expect(await Promise.all([...waiting, queue.get()])).toEqual([undefined, undefined, undefined]);
    expect([queue.depth, queue.delayed, clock.pending]).toEqual([0, 0, 0]);
  });

  it("leaves running keys with their workers, and runs none of them again", async () => {
    const { queue } = newQueue();
    queue.add("a");
    await takeAll(queue);
    queue.add("a");
    queue.close();
    queue.done("a");
    expect(await queue.get()).toBeUndefined();
  });
});
