import { StatusError } from "../../../sandbox/objects/status-error.ts";
import type { Random } from "./random.ts";
import type { RequestFault } from "./weather.ts";

/** An error response. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Returns the response of a server in trouble; undefined if the fault has no response. */
export function refusalOf(fault: RequestFault, method: string, random: Random): Refusal | undefined {
  switch (fault) {
    case "conflict409": {
      if (method === "GET") return undefined;
      return refuse(409, "Conflict", "Operation cannot be fulfilled: the object has been modified");
    }
    case "invalid422":
      return method === "PATCH" ? refuse(422, "Invalid", "denied by a policy of the simulation") : undefined;
    case "asksForADay":
    case "busy429": {
      const seconds = fault === "busy429" ? random.pick([1, 1, 2, 5]) : 86_400;
      const { body, status } = refuse(429, "TooManyRequests", "too many requests, please try again later");
      return { status, body, headers: { "retry-after": String(seconds) } };
    }
    case "error500":
      return refuse(500, "InternalError", "Internal error occurred: a fault of the simulation");
    case "etcd500":
      return refuse(500, undefined, "etcdserver: request timed out");
    case "unavailable503":
      return refuse(503, "ServiceUnavailable", "apiserver is shutting down");
    case "timeout504":
      return refuse(504, "Timeout", "Timeout: request did not complete within the allotted timeout");
    default:
      return undefined;
  }
}

/** The resources that RBAC denies for a while. */
export interface Ban {
  readonly resource: string;
  readonly writes: boolean;
}

/** Returns the response of RBAC to a temporarily denied request; undefined if the request is allowed. */
export function banned(method: string, path: string, ban: Ban | undefined): Refusal | undefined {
  const writes = method !== "GET";
  if (ban === undefined || ban.writes !== writes || !path.includes(`/${ban.resource}`)) return undefined;
  const message = `${ban.resource} is forbidden: User "wave" cannot ${writes ? "patch" : "list"} resource "${ban.resource}"`;
  return refuse(403, "Forbidden", message);
}

/** A namespace for which Wave has no permissions, or which an intermediary does not know. */
export interface Unlisted {
  readonly namespace: string;
  readonly status: 403 | 404;
}

/** Returns the response to a request about such a namespace; undefined for any other request. */
export function unlisted(path: string, what: Unlisted | undefined): Refusal | undefined {
  const [, inside] = path.split(`/namespaces/${what?.namespace}/`);
  if (what === undefined || inside === undefined) return undefined;
  if (what.status === 404) {
    // For one object, "not found" means that it does not exist; only for lists it means a hidden namespace.
    const message = "the server could not find the requested resource";
    return /^[a-z]+(\?|$)/.test(inside) ? refuse(404, "NotFound", message) : undefined;
  }
  return refuse(403, "Forbidden", `User "wave" cannot list resources in the namespace "${what.namespace}"`);
}

/** Returns the response of a server that can send lists only in pages. */
export const offersNoStreams: Refusal = refuse(
  422,
  "Invalid",
  "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
);

function refuse(status: number, reason: string | undefined, message: string): Refusal {
  return { status, headers: {}, body: new StatusError(status, reason, message, {}).body() };
}
