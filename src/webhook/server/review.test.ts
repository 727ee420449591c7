import { describe, expect, it } from "vitest";
import { writeReview } from "./review.ts";

describe("writeReview", () => {
  it("gives the reason of a denial and omits the patch", () => {
    const patch = [{ op: "remove", path: "/a" }] as const;
    const { response } = JSON.parse(writeReview("u", { patch, warnings: ["w"], denied: "why" }));
    expect(response).toEqual({
      uid: "u",
      allowed: false,
      status: { message: "why", code: 403 },
      warnings: ["w"],
    });
  });
});
