import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { podStatus } from "../../../test/support/domain/pod-status.ts";
import type { Config } from "../../domain/config/digest.ts";
import {
  outranks,
  type PodStatus,
  type PodStatusObject,
  toPodStatus as toPodStatusAt,
} from "../../domain/config/pod-status.ts";
import type { StoreChange } from "../store/store.ts";
import { ProviderClasses } from "./mounted-classes.ts";

const toPodStatus = (object: PodStatusObject, held?: PodStatus) => toPodStatusAt(object, 10_000, held);

const someStatus = fc
  .record({
    className: fc.constantFrom("vault", "other"),
    versions: fc.record({ a: fc.constantFrom("1", "2", "3") }),
    generation: fc.constantFrom(1, 2),
    at: fc.integer({ min: 1, max: 5 }),
  })
  .map((wanted) => wanted);

/** Each a write of its own, as the API server orders them. */
const someStatuses = fc
  .array(someStatus, { minLength: 1, maxLength: 8 })
  .map((all) =>
    all.map((wanted, index) => toPodStatus(podStatus({ ...wanted, pod: `p${index}`, resourceVersion: index + 1 }))),
  );

function started() {
  const changes: StoreChange<Config>[] = [];
  const classes = new ProviderClasses((change) => changes.push(change));
  const tell = (before: PodStatus | undefined, after: PodStatus | undefined) =>
    classes.update({ before, after, initial: false });
  return { changes, classes, tell };
}

/** The known versions of a class, without their times, which depend on the first observed Pod. */
const told = (config: Config | undefined) => config && { digests: config.digests, rotated: config.rotated ?? false };

describe("the known versions of classes", () => {
  it("do not depend on the order in which Pods are observed", () => {
    fc.assert(
      fc.property(
        someStatuses.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          const [one, other] = [started(), started()];
          for (const status of all) one.tell(undefined, status);
          for (const status of shuffled) other.tell(undefined, status);
          for (const name of ["vault", "other"]) {
            const best = all
              .filter(({ className }) => className === name)
              .reduce<PodStatus | undefined>((a, b) => (a === undefined || outranks(b, a) ? b : a), undefined);
            expect(told(one.classes.get("default", name))).toEqual(told(other.classes.get("default", name)));
            expect(one.classes.get("default", name)?.digests).toBe(best?.digest);
          }
        },
      ),
    );
  });

  it("change only by rotations, not by created or deleted Pods, and disappear with the last Pod", () => {
    const steps = fc.array(fc.tuple(fc.nat(7), fc.option(someStatus)), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (history) => {
        const { changes, classes, tell } = started();
        const pods = new Map<string, PodStatus>();
        for (const [version, [index, wanted]] of history.entries()) {
          const pod = `p${index}`;
          const before = pods.get(pod);
          const known = classes.get("default", "vault");
          const after =
            wanted === null
              ? undefined
              : toPodStatus(podStatus({ ...wanted, pod, resourceVersion: version + 1 }), before);
          tell(before, after);
          if (after === undefined) pods.delete(pod);
          else pods.set(pod, after);
          const now = classes.get("default", "vault");
          const mounting = pods.values().filter(({ className }) => className === "vault");
          expect(now !== undefined).toBe([...mounting].length > 0);
          if (known?.rotated && now !== undefined && now !== known) {
            expect([after?.className, after?.rotated, after?.digest]).toEqual(["vault", true, now.digests]);
          }
        }
        for (const status of pods.values()) tell(status, undefined);
        expect(classes.size).toBe(0);
        // Each change begins where the one before it ended.
        for (const name of ["vault", "other"]) {
          let held: Config | undefined;
          for (const { key, before, after } of changes) {
            if (key !== `SecretProviderClass/default/${name}`) continue;
            expect(before).toBe(held);
            expect(after).not.toBe(held);
            held = after;
          }
          expect(held).toBeUndefined();
        }
      }),
    );
  });
});

it("are changed once by a rotation that a hundred Pods report, and not by a hundred new Pods", () => {
  const { changes, tell } = started();
  const pods = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const mounted = pods.map((pod) => toPodStatus(podStatus({ pod, versions: { a: "1" }, at: 1 })));
  for (const status of mounted) tell(undefined, status);
  expect(changes.map(({ after }) => after?.changedAt)).toEqual([1]);
  const rotated = mounted.map((before, index) => {
    const after = toPodStatus(
      podStatus({ pod: before.pod, versions: { a: "2" }, generation: 2, at: 10 + index }),
      before,
    );
    tell(before, after);
    return after;
  });
  expect(changes.slice(1).map(({ after }) => after?.changedAt)).toEqual([10]);
  for (const [index, pod] of pods.entries()) {
    tell(undefined, toPodStatus(podStatus({ pod: `new-${pod}`, versions: { a: "2" }, at: 200 + index })));
    tell(rotated[index], undefined);
  }
  expect(changes).toHaveLength(2);
});
