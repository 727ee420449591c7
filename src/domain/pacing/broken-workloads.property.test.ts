import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { defaultPolicy } from "../../../test/support/domain/objects.ts";
import { Conductor } from "../../../test/support/pacing/conductor.ts";
import { defaultFlags, noon } from "../../../test/support/pacing/due.ts";
import { type Actor, type Shape, World } from "../../../test/support/pacing/world.ts";

const shape = fc.record({
  namespace: fc.constant("shop"),
  kind: fc.constantFrom("Deployment", "StatefulSet", "DaemonSet"),
  reads: fc.constant([0]),
  pods: fc.integer({ min: 1, max: 3 }),
  podMs: fc.constantFrom(1_000, 7_000, 20_000),
  policy: fc.constantFrom({}, {}, { priority: "5" }),
  broken: fc.boolean(),
}) satisfies fc.Arbitrary<Shape>;

const flags = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 4 }),
  haltAfterFailures: fc.integer({ min: 1, max: 3 }),
});

/** An edit, and what happens until the next one. */
const edit = fc.record({
  isBad: fc.boolean(),
  waitMs: fc.constantFrom(500, 20_000, 45_000, 300_000, 900_000),
  restarts: fc.boolean(),
});

/** Longer than any sequence of healthy rollouts here, and shorter than the timeout of a broken rollout. */
const soonMs = 540_000;

function isHealthy({ shape: { broken, kind }, rollout }: Actor): boolean {
  return !broken && !(kind === "StatefulSet" && rollout?.bad);
}

it("every edit reaches all healthy readers, however many other readers are broken by themselves", () => {
  fc.assert(
    fc.property(
      fc.array(shape, { minLength: 2, maxLength: 8 }),
      flags,
      fc.array(edit, { maxLength: 5 }),
      (shapes, given, edits) => {
        const world = new World(shapes, 1, noon, true);
        const conductor = new Conductor(world, { ...defaultPolicy, pacing: { ...defaultFlags, ...given } });
        const change = (value: string) => {
          const changed = world.edit(0, value);
          if (changed !== undefined) conductor.changed(changed);
        };
        const passUntil = (end: number) => {
          for (let next = world.now; next <= end; next = Math.min(world.next(), conductor.next())) {
            world.now = next;
            while (conductor.conduct(() => {}));
          }
          world.now = end;
        };
        for (const [index, { isBad, waitMs, restarts }] of edits.entries()) {
          change(`${isBad ? "bad" : "good"} ${index}`);
          passUntil(world.now + waitMs);
          if (restarts) conductor.restart();
        }
        // The readers that the bad edits broke are rolled again before they are healthy.
        change("good before");
        passUntil(world.now + 3 * 3_600_000);
        change("good at last");
        passUntil(world.now + soonMs);
        const behind = world.actors.filter(
          (actor) => isHealthy(actor) && actor.stored.recordedHash !== world.hashOf(actor),
        );
        expect(behind.map(({ key }) => key)).toEqual([]);
      },
    ),
    { numRuns: inject("everything") ? 300 : 40 },
  );
});
