import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../../../test/support/domain/objects.ts";
import { judgedUpTo, writeJudged } from "../../../domain/plan/verdict.ts";
import { systemClock } from "../../../lib/clock.ts";
import { judgedNow } from "./workload-memories.ts";

const wall = Date.parse("2026-01-31T12:00:00Z");

/** What a leader knows 100 s after the beginning of its clock. */
const knowing = (facts: {
  readonly namespaces?: readonly string[];
  readonly undecided?: readonly string[];
  readonly lostSince?: number;
}) => ({
  policy: { ...defaultPolicy, namespaces: facts.namespaces },
  caches: { undecided: () => facts.undecided ?? [], lostSince: () => facts.lostSince },
  clock: { ...systemClock, monotonic: () => 100_000, wall: () => wall },
});

/** When every change in a namespace is judged, in seconds before now, as a reader of the Lease finds it. */
function ageIn(
  namespace: string,
  since: Readonly<Record<string, number | undefined>>,
  facts: Parameters<typeof knowing>[0] = {},
) {
  const memories = Object.entries(since).map(([name, at]) => [`Deployment/${name}`, { unpublishedSince: at }] as const);
  const text = writeJudged(judgedNow(memories, knowing(facts)));
  expect(text).not.toContain(namespace);
  const upTo = judgedUpTo(text, namespace);
  return upTo === undefined ? undefined : (wall - upTo) / 1_000;
}

describe("the time up to which the leader has judged every change", () => {
  it("is ten seconds ago, and that of the oldest change in a namespace with changes that are not published", () => {
    expect(ageIn("shop", { "shop/a": undefined })).toBe(10);
    const since = { "shop/a": 70_000, "shop/b": 60_000, "other/c": 90_000 };
    expect(ageIn("shop", since)).toBe(50);
    expect(ageIn("other", since)).toBe(20);
    expect(ageIn("third", since)).toBe(10);
  });

  it("is unknown before the first run of a workload, and if nothing may be decided there", () => {
    expect(ageIn("shop", { "shop/a": Number.NEGATIVE_INFINITY, "shop/b": 90_000 })).toBe(undefined);
    expect(ageIn("shop", {}, { undecided: ["shop"] })).toBe(undefined);
  });

  it("is the loss of a watch if one is lost", () => {
    expect(ageIn("shop", { "other/a": 95_000 }, { lostSince: 60_000 })).toBe(50);
  });

  it("is unknown for namespaces that Wave does not watch", () => {
    const facts = { namespaces: ["shop", "other"] };
    expect(ageIn("shop", { "shop/a": 90_000 }, facts)).toBe(20);
    expect(ageIn("other", { "shop/a": 90_000 }, facts)).toBe(10);
    expect(ageIn("third", {}, facts)).toBe(undefined);
  });

  it("is never too new and needs 4 KiB at most if a tenant has changes in hundreds of namespaces that cannot be published", () => {
    const since = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`tenant-${i}/web`, i * 10]));
    expect(ageIn("tenant-7", since)).toBe(110 - 0.07);
    expect(ageIn("tenant-499", since)).toBeGreaterThan(100);
    const memories = Object.entries(since).map(
      ([name, at]) => [`Deployment/${name}`, { unpublishedSince: at }] as const,
    );
    expect(writeJudged(judgedNow(memories, knowing({}))).length).toBeLessThan(4_096);
  });
});

it("an annotation of another form judges nothing", () => {
  for (const text of [undefined, "", "{", "null", "[]", '{"upTo":7}', '{"upTo":"now","except":{}}'])
    expect(judgedUpTo(text, "shop")).toBe(undefined);
});
