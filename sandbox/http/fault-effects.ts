import { StatusError } from "../objects/status-error.ts";
import { type Clock, sleep } from "../time/clock.ts";
import type { FaultAction } from "./faults.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";

/**
 * Carries out a fault; whether the request is answered as usual after it. Throws the `StatusError` that a fault of type
 * `status` answers with.
 */
export async function carryOutFault(
  fault: FaultAction,
  clock: Clock,
  request: HttpRequest,
  response: HttpResponse,
): Promise<boolean> {
  switch (fault.type) {
    case "delay":
      await sleep(clock, fault.ms);
      return true;
    case "drop":
      if ("stream" in request) request.stream.session?.destroy();
      else request.socket.destroy();
      return false;
    case "blackHole":
      return false;
    case "status": {
      if (fault.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(fault.retryAfterSeconds));
      const details = fault.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: fault.retryAfterSeconds };
      throw new StatusError(fault.status, reasons[fault.status], "refused by a fault rule of the sandbox", details);
    }
  }
}

const reasons: { readonly [status: number]: string } = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};
