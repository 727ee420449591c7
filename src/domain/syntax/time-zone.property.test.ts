import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { zoneOffset } from "./time.ts";

const zones = [...Intl.supportedValuesOf("timeZone"), "Asia/Calcutta", "US/Eastern", "EST5EDT", "europe/berlin", "GMT"];

/** The offset that a wall clock of the zone shows, in milliseconds. */
function shownOffset(zone: string, at: number): number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
  });
  const shown = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour, minute, second } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

describe("zoneOffset", () => {
  it("has the offset that a wall clock of each zone shows, in summer and in winter", () => {
    for (const zone of zones) {
      for (const at of [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)])
        expect([zone, zoneOffset(zone)?.(at)]).toEqual([zone, shownOffset(zone, at)]);
    }
  });

  it("has the offset that a wall clock shows at any time of these decades", () => {
    const time = fc.integer({ min: Date.UTC(2012, 0), max: Date.UTC(2037, 0) });
    fc.assert(
      fc.property(fc.constantFrom(...zones), time, (zone, at) => {
        expect(zoneOffset(zone)?.(at)).toBe(shownOffset(zone, at));
      }),
      { numRuns: 300 },
    );
  });

  it.each(["GMT+3", "Europe/Nowhere", "+02:00", ":/etc/localtime", "ABC3", ""])("does not know %j", (zone) => {
    expect(zoneOffset(zone)).toBeUndefined();
  });

  it("leaves the zone of the process as it was", () => {
    const before = process.env.TZ;
    try {
      for (const zone of ["Asia/Tokyo", undefined]) {
        if (zone === undefined) delete process.env.TZ;
        else process.env.TZ = zone;
        const local = new Date(0).getTimezoneOffset();
        expect(zoneOffset("Europe/Berlin")?.(Date.UTC(2026, 1))).toBe(3_600_000);
        expect([process.env.TZ, new Date(0).getTimezoneOffset()]).toEqual([zone, local]);
      }
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });
});
