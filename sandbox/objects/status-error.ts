import type { JsonObject } from "./json.ts";
import { qualifiedPlural, type SandboxResource } from "./resources.ts";

/** One field that is wrong, as `details.causes` lists it. `field` is a path like `spec.selector`. */
export interface Cause {
  readonly reason:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueForbidden"
    | "FieldValueDuplicate"
    | "FieldValueNotFound"
    | "FieldManagerConflict";
  readonly field: string;
  readonly message: string;
}

/**
 * A refusal, answered as a Kubernetes `Status` with this HTTP code.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
 */
export class StatusError extends Error {
  readonly code: number;
  /** Undefined where the API server names none. */
  readonly reason: string | undefined;
  readonly details: JsonObject | undefined;

  constructor(code: number, reason: string | undefined, message: string, details?: JsonObject) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The body of the answer. */
  body(): JsonObject {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.reason,
      details: this.details,
      code: this.code,
    };
  }
}

function detailsOf(resource: SandboxResource, name: string): JsonObject {
  return { name, group: resource.group || undefined, kind: resource.plural };
}

/** Returns the error 404 for an object that does not exist. */
export function notFound(resource: SandboxResource, name: string): StatusError {
  const message = `${qualifiedPlural(resource)} "${name}" not found`;
  return new StatusError(404, "NotFound", message, detailsOf(resource, name));
}

/** Returns the error 404 for a path that the server does not have. */
export function noSuchPath(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

/** Returns the error 409 for a new object with the name of an existing object. */
export function alreadyExists(resource: SandboxResource, name: string): StatusError {
  const message = `${qualifiedPlural(resource)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, detailsOf(resource, name));
}

/** Returns the error 409 for a request that was made against another version of the object. */
export function conflict(resource: SandboxResource, name: string, why: string = modified): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedPlural(resource)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message, detailsOf(resource, name));
}

const modified = "the object has been modified; please apply your changes to the latest version and try again";

/** Returns the error 403 for a new object in a namespace that is being deleted. */
export function namespaceTerminating(resource: SandboxResource, name: string, namespace: string): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `${qualifiedPlural(resource)} "${name}" is forbidden: ${why}`;
  return new StatusError(403, "Forbidden", message, {
    ...detailsOf(resource, name),
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}

/** Returns the error 422 for an object that violates rules of its kind, with one cause for each violation. */
export function invalid(resource: SandboxResource, name: string, causes: readonly Cause[]): StatusError {
  return invalidKind(resource.group, resource.kind, name, causes);
}

/** Returns the error 422 for an invalid object of any kind, also for options that are not stored, such as `ListOptions`. */
export function invalidKind(group: string, kind: string, name: string, causes: readonly Cause[]): StatusError {
  const problems = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const joined = problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`;
  const message = `${group === "" ? kind : `${kind}.${group}`} "${name}" is invalid: ${joined}`;
  return new StatusError(422, "Invalid", message, {
    name: name || undefined,
    group: group || undefined,
    kind,
    causes: causes.map(({ reason, message: text, field }) => ({ reason, message: text, field })),
  });
}

/**
 * Returns the error 422 for a JSON Patch that cannot be applied, for example because a `test` fails or a path does not exist. The
 * message has no details, as in the API server.
 */
export function unprocessablePatch(): StatusError {
  return new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

/** Returns the error 400 for a malformed request. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

/** Returns the error 405 for a method that the path does not support. */
export function methodNotAllowed(): StatusError {
  const message = "the server does not allow this method on the requested resource";
  return new StatusError(405, "MethodNotAllowed", message, {});
}

/** Returns the error 415 for a body whose content type the server cannot read. */
export function unsupportedMediaType(): StatusError {
  return new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/** Returns the error 410 for a resourceVersion that is no longer in the history. The client must list again. */
export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", message);
}

/** Returns the error 504 for a resourceVersion that the server has not reached yet. */
export function tooLargeResourceVersion(asked: number, current: number): StatusError {
  return new StatusError(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}
