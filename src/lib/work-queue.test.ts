import { describe, expect, it } from "vitest";
import { FakeClock } from "./fake-clock.ts";
import { type Priority, WorkQueue } from "./work-queue.ts";

function newQueue() {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, random: () => 0, backoff: { baseMs: 200, maxMs: 1600 } });
  return { clock, queue };
}

/** Takes everything that can be taken now. */
async function takeAll(queue: WorkQueue): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = [];
  while (queue.depth > 0) keys.push(await queue.next());
  return keys;
}

describe("WorkQueue", () => {
  it("holds a key once, however often it is added", async () => {
    const { queue } = newQueue();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    expect(queue.depth).toBe(2);
    expect(await takeAll(queue)).toEqual(["a", "b"]);
  });

  it("takes high before low and keeps the order inside each", async () => {
    const { queue } = newQueue();
    const added: [string, Priority][] = [
      ["l1", "low"],
      ["h1", "high"],
      ["l2", "low"],
      ["h2", "high"],
    ];
    for (const [key, priority] of added) queue.add(key, { priority });
    expect(await takeAll(queue)).toEqual(["h1", "h2", "l1", "l2"]);
  });

  it("moves a key from low to high, and never back", async () => {
    const { queue } = newQueue();
    for (const key of ["a", "b", "c"]) queue.add(key, { priority: "low" });
    queue.add("c", { priority: "high" });
    queue.add("c", { priority: "low" });
    expect(await takeAll(queue)).toEqual(["c", "a", "b"]);
  });

  it("gives a key that is added while it runs to nobody before done, and then runs it again", async () => {
    const { queue } = newQueue();
    queue.add("a");
    expect(await queue.next()).toBe("a");
    queue.add("a");
    queue.add("a");
    expect(queue.depth).toBe(0);
    queue.done("a");
    expect(await takeAll(queue)).toEqual(["a"]);
    queue.done("a");
    expect(queue.depth).toBe(0);
  });

  it("gives keys to waiting workers in the order in which they wait", async () => {
    const { queue } = newQueue();
    const workers = [queue.next(), queue.next()];
    queue.add("a");
    queue.add("b");
    expect(await Promise.all(workers)).toEqual(["a", "b"]);
  });

  it("holds a delayed key back until its time", async () => {
    const { clock, queue } = newQueue();
    queue.add("late", { delayMs: 500 });
    queue.add("early", { delayMs: 100 });
    expect([queue.depth, queue.delayed]).toEqual([0, 2]);
    const first = queue.next();
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
    expect(await queue.next()).toBe("a");
    queue.done("a");
    await clock.advance(60_000);
    expect(queue.depth).toBe(0);
  });

  it("keeps the earlier time and the higher priority of several delayed adds", async () => {
    const { clock, queue } = newQueue();
    queue.add("first", { priority: "low", delayMs: 10 });
    queue.add("a", { priority: "low", delayMs: 10 });
    queue.add("a", { priority: "high", delayMs: 1000 });
    await clock.advance(10);
    expect(await takeAll(queue)).toEqual(["a", "first"]);
  });

  it("counts the delay of a key that runs from the add, not from done", async () => {
    const { clock, queue } = newQueue();
    queue.add("a");
    await queue.next();
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

  it("stops waiting in next when the signal is aborted, and gives the key to the next worker", async () => {
    const { queue } = newQueue();
    const stop = new AbortController();
    const impatient = queue.next(stop.signal);
    const patient = queue.next();
    stop.abort();
    queue.add("a");
    expect(await impatient).toBeUndefined();
    expect(await patient).toBe("a");
    expect(await queue.next(stop.signal)).toBeUndefined();
  });
});

describe("WorkQueue.retry", () => {
  it("doubles the delay with each failure and starts again after forget", async () => {
    const { clock, queue } = newQueue();
    const delays: number[] = [];
    const fail = async () => {
      queue.retry("a");
      const from = clock.monotonic();
      const next = queue.next().then(() => delays.push(clock.monotonic() - from));
      await clock.advance(10_000);
      await next;
      queue.done("a");
    };
    for (let i = 0; i < 5; i++) await fail();
    queue.forget("a");
    await fail();
    expect(delays).toEqual([100, 200, 400, 800, 800, 100]);
  });

  it("does not come back before the time that the server asked for", async () => {
    const { clock, queue } = newQueue();
    queue.retry("a", { atLeastMs: 30_000 });
    await clock.advance(29_999);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it("keeps the priority of the run that failed", async () => {
    const { clock, queue } = newQueue();
    queue.add("failing", { priority: "low" });
    await queue.next();
    queue.retry("failing");
    queue.done("failing");
    await clock.advance(100);
    queue.add("fresh");
    expect(await takeAll(queue)).toEqual(["fresh", "failing"]);
  });
});

describe("WorkQueue.close", () => {
  it("ends every next, drops what waits and refuses what comes", async () => {
    const { clock, queue } = newQueue();
    const waiting = [queue.next(), queue.next()];
    queue.add("delayed", { delayMs: 10 });
    queue.close();
    queue.add("new");
    queue.retry("new");
    await clock.advance(1000);
    expect(await Promise.all([...waiting, queue.next()])).toEqual([undefined, undefined, undefined]);
    expect([queue.depth, queue.delayed, clock.pending]).toEqual([0, 0, 0]);
  });

  it("leaves keys with their workers until done, and then is idle", async () => {
    const { clock, queue } = newQueue();
    for (const key of ["a", "b"]) queue.add(key);
    await takeAll(queue);
    queue.add("a");
    queue.close();
    let idle = false;
    const waiting = queue.idle().then(() => {
      idle = true;
    });
    queue.done("a");
    await clock.advance(0);
    expect(idle).toBe(false);
    queue.done("b");
    await waiting;
    expect(await queue.next()).toBeUndefined();
    await queue.idle();
  });
});
