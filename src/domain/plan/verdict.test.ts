import fc from "fast-check";
import { expect, it } from "vitest";
import { blocksFollowedBy } from "../../../test/docs/fences.ts";
import { parseVerdict, writeVerdict } from "./verdict.ts";

it("an annotation has the verdict, its times and its object, as docs/gitops.md shows it", () => {
  const [block] = blocksFollowedBy("src/domain/plan/verdict.test.ts", "docs/gitops.md");
  const [since, until] = ["2026-11-26T18:03:12Z", "2026-11-27T02:00:00Z"].map(Date.parse) as [number, number];
  const object = { kind: "ConfigMap", namespace: "shop", name: "common" } as const;
  const verdict = { state: "held", reason: "window", since, until, object };
  expect(writeVerdict(verdict)).toBe(block?.text.trim());
  expect(parseVerdict(writeVerdict(verdict))).toEqual(verdict);
});

it("an annotation of another client is a short word, a time and a name of an object, or nothing", () => {
  const part = fc.oneof(fc.string(), fc.anything(), fc.constantFrom("held", "Secret/shop/db", "Secret/../x", "now"));
  const written = fc.record({
    state: part,
    reason: part,
    since: fc.constant("2026-01-31T12:00:00Z"),
    until: part,
    object: part,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        written.map((each) => JSON.stringify(each)),
        fc.string(),
      ),
      (text) => {
        const verdict = parseVerdict(text);
        if (verdict === undefined) return;
        expect(verdict.state).toMatch(/^[A-Za-z]{1,40}$/);
        expect(verdict.reason).toMatch(/^[A-Za-z]{0,40}$/);
        expect(verdict.object?.name ?? "x").toMatch(/^[a-z0-9.-]{1,253}$/);
      },
    ),
  );
  expect(parseVerdict(JSON.stringify({ state: "held", since: "2026-01-31T12:00:00Z", x: "x".repeat(1_024) }))).toBe(
    undefined,
  );
  expect(parseVerdict('{"state":"held\u001b[31m","since":"2026-01-31T12:00:00Z"}')).toBe(undefined);
});
