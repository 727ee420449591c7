import { describe, expect, it } from "vitest";
import {
  ApiError,
  apiFailureOf,
  ClusterConfigError,
  ConnectionError,
  isApiFailure,
  isClusterFailure,
  retryAfterMs,
} from "./api-failure.ts";

const apiError = (status: number, reason = "", serverMessage = "", retryAfterMs?: number) =>
  new ApiError({ request: "get secrets/a in b", status, reason, serverMessage, retryAfterMs });

describe("apiFailureOf", () => {
  it.each([
    [400, "BadRequest", "badRequest"],
    [401, "Unauthorized", "unauthorized"],
    [403, "Forbidden", "forbidden"],
    [404, "NotFound", "notFound"],
    [409, "Conflict", "conflict"],
    [409, "AlreadyExists", "alreadyExists"],
    [410, "Expired", "expired"],
    [413, "RequestEntityTooLarge", "badRequest"],
    [422, "Invalid", "invalid"],
    [429, "TooManyRequests", "tooManyRequests"],
    [405, "MethodNotAllowed", "unavailable"],
  ])("classifies %d %s as %s", (status, reason, type) => {
    const error = apiError(status, reason);
    expect(apiFailureOf(error)).toMatchObject({ type, error });
  });

  it.each([
    [500, "InternalError", true],
    [500, "", true],
    [503, "ServiceUnavailable", false],
    [504, "Timeout", true],
  ])("reports for %d %s whether the request may be done", (status, reason, mayBeDone) => {
    expect(apiFailureOf(apiError(status, reason))).toMatchObject({ type: "unavailable", mayBeDone });
  });

  it("classifies the response of a proxy as unavailable: it says nothing about the object", () => {
    for (const status of [403, 404, 502]) {
      expect(apiFailureOf(apiError(status))).toMatchObject({ type: "unavailable", mayBeDone: true });
    }
  });

  it("recognizes a webhook denial with any status", () => {
    const denied = 'admission webhook "policy.example" denied the request: no';
    for (const status of [400, 403, 409, 422]) {
      expect(apiFailureOf(apiError(status, "Whatever", denied))?.type).toBe("deniedByAdmission");
    }
    const uncallable = 'Internal error occurred: failed calling webhook "policy.example": timeout';
    expect(apiFailureOf(apiError(500, "InternalError", uncallable))?.type).toBe("deniedByAdmission");
  });

  it("separates the denial of a policy, which is a 422, from a failed test of a patch", () => {
    const denied = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'a' with binding 'b' denied request: no`;
    expect(apiFailureOf(apiError(422, "Invalid", denied))?.type).toBe("deniedByAdmission");
    const failedTest = "the server rejected our request due to an error in our request";
    expect(apiFailureOf(apiError(422, "Invalid", failedTest))?.type).toBe("invalid");
  });

  it("separates a broken connection from a configuration that sent nothing", () => {
    const [broken, plugin] = [new ConnectionError("reset"), new ClusterConfigError("the plugin failed")];
    expect(apiFailureOf(broken)).toMatchObject({ type: "unavailable", mayBeDone: true });
    expect(apiFailureOf(plugin)).toEqual({ type: "misconfigured", error: plugin });
    expect([broken, plugin].map(isApiFailure)).toEqual([true, true]);
    expect([broken, plugin].map(isClusterFailure)).toEqual([true, false]);
  });

  it("returns undefined for an error of another origin", () => {
    expect(apiFailureOf(new TypeError("x is not a function"))).toBeUndefined();
    expect(isApiFailure("text")).toBe(false);
  });

  it("limits the requested wait to five minutes", () => {
    expect(retryAfterMs(apiError(429, "", "", 2_000))).toBe(2_000);
    expect(retryAfterMs(apiError(503, "ServiceUnavailable", "", 86_400_000))).toBe(300_000);
    expect(retryAfterMs(new ConnectionError("reset"))).toBe(0);
  });
});
