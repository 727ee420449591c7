import { describe, expect, it } from "vitest";
import { podStatus } from "../../../test/support/domain/pod-status.ts";
import {
  outranks,
  type PodStatus,
  type PodStatusObject,
  samePodStatus,
  toPodStatus as toPodStatusAt,
} from "./pod-status.ts";

const toPodStatus = (object: PodStatusObject, held?: PodStatus) => toPodStatusAt(object, 10_000, held);

describe("the status of a mount", () => {
  it("has a digest of all versions in any order, and no version", () => {
    const one = toPodStatus(podStatus({ versions: { user: "hush-1", password: "hush-2" } }));
    const other = toPodStatus(podStatus({ versions: { password: "hush-2", user: "hush-1" } }));
    expect(one).toEqual(other);
    expect(JSON.stringify(one)).not.toContain("hush");
    expect(one.digest).not.toBe(toPodStatus(podStatus({ versions: { user: "hush-2", password: "hush-1" } })).digest);
  });

  it("has different digests for different lists of ids and versions", () => {
    const digests = [{ a: "b,c" }, { "a,b": "c" }, { a: "b", c: "" }, { a: 'b","c' }, {}].map(
      (versions) => toPodStatus(podStatus({ versions: versions as Record<string, string> })).digest,
    );
    expect(new Set(digests).size).toBe(digests.length);
  });

  it("has the time of the last status write, not of other edits", () => {
    expect(toPodStatus(podStatus({ versions: { a: "1" }, at: 1234 })).writtenAt).toBe(1234);
  });

  it("ignores times in the future, which would hide later rotations", () => {
    const forged = podStatus({ versions: { a: "1" }, at: 20_000 });
    expect(toPodStatusAt(forged, 17_000).writtenAt).toBe(20_000);
    expect(toPodStatusAt(forged, 10_000).writtenAt).toBeLessThan(10_000);
  });

  it("has no class if nothing is mounted or the object is invalid", () => {
    expect(toPodStatus(podStatus({ versions: {}, mounted: false })).className).toBe("");
    expect(toPodStatus({ metadata: { namespace: "default" } }).className).toBe("");
    expect(() => toPodStatus({})).toThrow("without namespace");
  });
});

describe("a rotation", () => {
  const mounted = toPodStatus(podStatus({ versions: { a: "1" } }));

  it("is a later write for the same Pod", () => {
    expect(mounted.rotated).toBe(false);
    expect(toPodStatus(podStatus({ versions: { a: "2" }, generation: 2 }), mounted).rotated).toBe(true);
  });

  it("is assumed if the mount was not observed", () => {
    expect(toPodStatus(podStatus({ versions: { a: "2" }, generation: 2 })).rotated).toBe(true);
  });

  it("is not the takeover of the object by the next Pod of a StatefulSet, but a write after that", () => {
    const next = toPodStatus(podStatus({ versions: { a: "2" }, generation: 2, pod: "b" }), mounted);
    expect(next.rotated).toBe(false);
    expect(toPodStatus(podStatus({ versions: { a: "3" }, generation: 3, pod: "b" }), next).rotated).toBe(true);
  });

  it("is not a new object of the same name", () => {
    const third = toPodStatus(podStatus({ versions: { a: "1" }, generation: 3, pod: "b" }), mounted);
    const again = toPodStatus(podStatus({ versions: { a: "1" }, generation: 1, pod: "b" }), third);
    expect(again.rotated).toBe(false);
    expect(toPodStatus(podStatus({ versions: { a: "2" }, generation: 2, pod: "b" }), again).rotated).toBe(true);
  });
});

describe("precedence", () => {
  const status = (wanted: Partial<PodStatus>): PodStatus => ({
    ...toPodStatus(podStatus({ versions: { a: "1" } })),
    ...wanted,
  });

  it.each([
    ["a rotation, however old", { rotated: true, writtenAt: 1 }, { rotated: false, writtenAt: 2 }],
    [
      "the later of two rotations",
      { rotated: true, writtenAt: 2 },
      { rotated: true, writtenAt: 1, resourceVersion: 9 },
    ],
    ["the later write within a second", { writtenAt: 1, resourceVersion: 10 }, { writtenAt: 1, resourceVersion: 9 }],
  ])("is %s", (_, better, worse) => {
    expect([outranks(status(better), status(worse)), outranks(status(worse), status(better))]).toEqual([true, false]);
  });
});

it("a write that changes no version and no Pod is no change", () => {
  const before = toPodStatus(podStatus({ versions: { a: "1" }, resourceVersion: 1 }));
  expect(samePodStatus(before, toPodStatus(podStatus({ versions: { a: "1" }, resourceVersion: 2 }), before))).toBe(
    true,
  );
});
