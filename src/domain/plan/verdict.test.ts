import fc from "fast-check";
import { expect, it } from "vitest";
import { parseVerdict, writeVerdict } from "./verdict.ts";

const object = { kind: "Secret", namespace: "shop", name: "db" } as const;
const since = Date.parse("2026-01-31T12:00:00Z");

it("an annotation has the verdict, its times and its object", () => {
  const verdict = { state: "held", reason: "window", since, until: since + 60_000, object };
  const text = writeVerdict(verdict);
  expect(text).toBe(
    '{"state":"held","reason":"window","since":"2026-01-31T12:00:00Z","until":"2026-01-31T12:01:00Z","object":"Secret/shop/db"}',
  );
  expect(parseVerdict(text)).toEqual(verdict);
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
