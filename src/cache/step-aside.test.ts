import { beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../kube/api-types.ts";
import type { ReflectorEvent } from "../kube/watch-context.ts";
import { FakeClock } from "../lib/fake-clock.ts";
import { RightOfWay } from "../lib/right-of-way.ts";
import { stepAside } from "./step-aside.ts";

type Event = ReflectorEvent<KubeObject>;

function* listOf(count: number): Generator<Event> {
  yield { type: "init" };
  for (let index = 0; index < count; index++) yield { type: "initApply", object: named(`secret-${index}`) };
  yield { type: "initDone" };
}

const named = (name: string) => ({ metadata: { namespace: "shop", name, uid: "1", resourceVersion: "1" } });

let clock: FakeClock;
let rightOfWay: RightOfWay;
let got: Event[];

/** Begins to take events and lets come what comes at once. */
async function take(events: Iterable<Event>): Promise<void> {
  got = [];
  void (async () => {
    const source = (async function* () {
      yield* events;
    })();
    for await (const event of stepAside(source, rightOfWay)) got.push(event);
  })();
  await clock.advance(0);
}

/** Something that goes first, until the returned function is called. */
function review(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void rightOfWay.first(() => promise);
  return resolve;
}

beforeEach(() => {
  clock = new FakeClock();
  rightOfWay = new RightOfWay(clock);
});

describe("a list", () => {
  it("comes at once while nothing goes first", async () => {
    await take(listOf(1000));
    expect(got).toEqual([...listOf(1000)]);
  });

  it("comes 16 objects in 50 ms while something goes first, and at once soon after it", async () => {
    const end = review();
    await take(listOf(1000));
    expect(got).toHaveLength(1 + 16);
    await clock.advance(50);
    expect(got).toHaveLength(1 + 32);
    await clock.advance(450);
    expect(got).toHaveLength(1 + 176);
    end();
    await clock.advance(100);
    expect(got).toEqual([...listOf(1000)]);
  });

  it("does not go on in the moment between two things that go first", async () => {
    review()();
    await clock.advance(25);
    await take(listOf(1000));
    expect(got).toHaveLength(1 + 16);
    const end = review();
    await clock.advance(50);
    expect(got).toHaveLength(1 + 32);
    end();
    await clock.advance(100);
    expect(got).toHaveLength(1002);
  });

  it("is not held up by what went first and failed", async () => {
    await expect(rightOfWay.first(() => Promise.reject(new Error("no answer")))).rejects.toThrow("no answer");
    await clock.advance(50);
    await take(listOf(1000));
    expect(got).toHaveLength(1002);
  });

  it("is held up for a minute at most, and so is the next", async () => {
    review();
    const count = 16 * 1200 + 1000;
    await take([...listOf(count), ...listOf(100)]);
    await clock.advance(59_950);
    expect(got.length).toBeLessThanOrEqual(1 + 16 * 1200);
    await clock.advance(50);
    // The first is complete, and the next has begun.
    expect(got.slice(0, count + 2)).toEqual([...listOf(count)]);
    expect(got.length).toBeLessThan(count + 2 + 1 + 16);
    await clock.advance(500);
    expect(got).toHaveLength(count + 2 + 102);
  });

  it("that was broken off and begins again comes at once, and the next steps aside again", async () => {
    review();
    const broken = [...listOf(10)].slice(0, -1);
    await take([...broken, ...listOf(1000), ...listOf(1000)]);
    expect(got.slice(0, broken.length + 1002)).toEqual([...broken, ...listOf(1000)]);
    expect(got.length).toBeLessThanOrEqual(broken.length + 1002 + 1 + 16);
  });
});

it("changes come at once, whatever goes first", async () => {
  const changes = Array.from(
    { length: 100 },
    (_, index): Event => ({ type: "apply", object: named(`secret-${index}`) }),
  );
  review();
  await take(changes);
  expect(got).toEqual(changes);
});
