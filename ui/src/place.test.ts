import { expect, it } from "vitest";
import { hrefOf, readPlace } from "./place.ts";

it("reads the place that an address says, and writes the same address", () => {
  const href = hrefOf({ view: "workloads", namespace: "shop", state: "held:approval", text: "a&b = c" });
  expect(readPlace(href)).toMatchObject({
    view: "workloads",
    namespace: "shop",
    state: "held:approval",
    text: "a&b = c",
  });
  expect(hrefOf(readPlace(href))).toBe(href);
});

it("is the first view for an address without a view, or with one that does not exist", () => {
  expect(readPlace("").view).toBe("needs");
  expect(readPlace("?view=constructor").view).toBe("needs");
  expect(hrefOf(readPlace(""))).toBe("?");
});
