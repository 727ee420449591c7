import { expect, it } from "vitest";
import { ApiError } from "../api/api-failure.ts";
import type { ApiClient } from "../http/client.ts";
import { eventMessage } from "./reads.ts";

const event = { namespace: "shop", uid: "u", reason: "FailedMount", since: Date.parse("2026-01-01T00:00:00Z") };

/** Returns the message of the Event from a client whose requests have this result. */
function messageFrom(result: object | number): Promise<string | undefined> {
  const request: ApiClient["request"] = async <T>() => {
    if (typeof result !== "number") return result as T;
    const reason = result === 403 ? "Forbidden" : "InternalError";
    throw new ApiError({ request: "list events", status: result, reason, serverMessage: "", details: undefined });
  };
  return eventMessage({ request }, event);
}

it("the newest Event since the time has the message", async () => {
  const at = (second: number, message: string) => ({ lastTimestamp: `2026-01-01T00:00:0${second}Z`, message });
  const old = { lastTimestamp: "2025-12-31T23:59:59Z", message: "old" };
  expect(await messageFrom({ items: [at(1, "first"), at(3, "newest"), at(2, "second"), old] })).toBe("newest");
  expect(await messageFrom({ items: [old] })).toBeUndefined();
});

it("no message is known without permission to list Events, and other failures are passed on", async () => {
  expect(await messageFrom(403)).toBeUndefined();
  await expect(messageFrom(500)).rejects.toThrow("list events");
});
