import { describe, expect, it } from "vitest";
import { parseWindow } from "./window.ts";

const read = (text: string) =>
  parseWindow(text)?.times.map(({ days, ...rest }) => ({ days: [...days].sort(), ...rest }));

describe("a window", () => {
  it.each([
    ["Mon-Fri 22:00-04:00 Europe/Berlin", [{ days: [1, 2, 3, 4, 5], from: 1320, to: 240, zone: "Europe/Berlin" }]],
    ["Sat,Sun 00:00-24:00", [{ days: [0, 6], from: 0, to: 1440, zone: "UTC" }]],
    ["Fri-Mon,Wed 01:00-00:00 UTC", [{ days: [0, 1, 3, 5, 6], from: 60, to: 0, zone: "UTC" }]],
    [
      " mon  09:00-10:30 ;TUE 09:05-09:06 America/New_York; ",
      [
        { days: [1], from: 540, to: 630, zone: "UTC" },
        { days: [2], from: 545, to: 546, zone: "America/New_York" },
      ],
    ],
  ])("%s is parsed", (text, times) => {
    expect(read(text)).toEqual(times);
  });

  it("keeps its text, with single spaces", () => {
    expect(parseWindow(" Mon   09:00-10:00\tUTC;;Tue 09:00-10:00 ")?.text).toBe("Mon 09:00-10:00 UTC; Tue 09:00-10:00");
  });

  it.each([
    "",
    ";",
    "always",
    "Mon",
    "22:00-04:00",
    "Mon 22:00",
    "Mon 22:00-",
    "Mon 22:00-23:00-24:00",
    "Mon 22-23",
    "Mon 9:00-10:00",
    "Mon 24:00-01:00",
    "Mon 23:60-24:00",
    "Mon 10:00-24:30",
    "Mon 10:00-25:00",
    "Mon -1:00-10:00",
    "Mon 10:00-10:00",
    "Monday 10:00-11:00",
    "Mon- 10:00-11:00",
    "Mon-Wed-Fri 10:00-11:00",
    "Mon, 10:00-11:00",
    "Mon 10:00-11:00 Europe/Berln",
    "Mon 10:00-11:00 +02:00",
    "Mon 10:00-11:00 Europe/Berlin Europe/Paris",
    "Mon 10:00-11:00; Tue",
    `Mon 10:00-11:00 ${"Europe/".repeat(20)}Berlin`,
    "Mon 10:00-11:00;".repeat(21),
  ])("%j is invalid", (text) => {
    expect(parseWindow(text)).toBeUndefined();
  });
});
