import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPins, maxPinnedLength, type Pins, parsePins } from "./pins.ts";

const long = `a${"b".repeat(252)}`;

describe("parsePins", () => {
  it.each<[string, Pins]>([
    ["web=web-0123456789", new Map([["web", "web-0123456789"]])],
    ["web=web-0123456789abcdef0123", new Map([["web", "web-0123456789abcdef0123"]])],
    ["a.b--c=a.b--c-0123456789", new Map([["a.b--c", "a.b--c-0123456789"]])],
    [`${long}=${long.slice(0, 242)}-0123456789`, new Map([[long, `${long.slice(0, 242)}-0123456789`]])],
    [
      "b=b-00000000ff,a=a-0123456789",
      new Map([
        ["b", "b-00000000ff"],
        ["a", "a-0123456789"],
      ]),
    ],
  ])("reads %j", (text, pins) => {
    expect(parsePins(text)).toEqual(pins);
  });

  it.each([
    "",
    ",",
    "a",
    "a=",
    "=a-0123456789",
    "=-0123456789",
    "a=a",
    "a=a-012345678",
    "a=a-01234567890",
    "a=a-ABCDEF0123",
    "a=a-Absent",
    "a=-0123456789",
    "a=b-0123456789",
    "a=ab-0123456789",
    "a=a-0123456789,",
    ",a=a-0123456789",
    " a=a-0123456789",
    "a=a-0123456789 ",
    "a=a-0123456789\n",
    "a=a-0123456789=",
    "a=a-0123456789=b",
    "a=a-0123456789;b=b-0123456789",
    "A=A-0123456789",
    "a..b=a..b-0123456789",
    "a.=a.-0123456789",
    "-a=-a-0123456789",
    "a/b=a/b-0123456789",
    "é=é-0123456789",
    "a=a-\uff10123456789",
    "a\u200b=a-0123456789",
    "a=a-0123456789,a=a-0123456789",
    "a=a-0123456789,a=b-0123456789",
    "a=a-0123456789,B=B-0123456789",
    "a=a-0123456789,a-0123456789=a-0123456789-0123456789",
    `${long}b=${long.slice(0, 242)}-0123456789`,
    `${long}=${long.slice(0, 243)}-0123456789`,
  ])("returns undefined for the malformed annotation %j", (text) => {
    expect(parsePins(text)).toBeUndefined();
  });

  it("returns undefined for an annotation above the limit, however long it is", () => {
    const text = (count: number) => Array.from({ length: count }, (_, i) => `c${i}=c${i}-0123456789`).join(",");
    expect(parsePins(text(700))?.size).toBe(700);
    expect(text(1000).length).toBeGreaterThan(maxPinnedLength);
    expect(parsePins(text(1000))).toBeUndefined();
    expect(parsePins("a-".repeat(131_072))).toBeUndefined();
  });

  it("reads what formatPins returns, which is sorted", () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,5}$/);
    const suffix = fc.stringMatching(/^(?:[0-9a-f]{10}|[0-9a-f]{20})$/);
    const entry = fc.tuple(name, suffix);
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ([source]) => source, minLength: 1 }), (entries) => {
        const pins = new Map(entries.map(([source, digits]) => [source, `${source}-${digits}`]));
        const text = formatPins(pins);
        expect(parsePins(text)).toEqual(pins);
        expect(text.split(",")).toEqual(text.split(",").toSorted());
        expect(formatPins(parsePins(text) ?? new Map())).toBe(text);
      }),
    );
  });
});
