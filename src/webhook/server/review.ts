import type { JsonPatch } from "../../domain/syntax/json.ts";
import { isMapping } from "../../kube/http/response-body.ts";

/** An object in an AdmissionReview: a JSON object whose content is not checked yet. */
export type AdmittedObject = Readonly<Record<string, unknown>>;

/** The request of an `admission.k8s.io/v1` AdmissionReview. */
export interface AdmissionRequest {
  /** Identifies the request. The response repeats it. */
  readonly uid: string;
  readonly operation: string;
  /** The kind of the sent object, such as "apps/v1, Kind=Deployment". */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  /** "" until the API server has made a name from `generateName`. */
  readonly name: string;
  /** For example "scale"; "" for the object itself. */
  readonly subResource: string;
  /** Whether the request is a dry run, which must have no side effect. */
  readonly dryRun: boolean;
  /** Undefined on DELETE. */
  readonly object: AdmittedObject | undefined;
  /** Undefined on CREATE. */
  readonly oldObject: AdmittedObject | undefined;
}

/** The response: allowed, possibly with a patch and warnings. Wave denies only if the precondition in the request itself fails. */
export interface AdmissionResponse {
  readonly patch: JsonPatch | undefined;
  readonly warnings: readonly string[];
  /** The reason for a denial, in one line; undefined: allowed. */
  readonly denied?: string | undefined;
}

/** The error of a body that is not an AdmissionReview. Its one line names the problem and never quotes the content. */
export class ReviewError extends Error {
  override readonly name = "ReviewError";
}

const apiVersion = "admission.k8s.io/v1";

/**
 * Reads the body of a request (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request).
 * @throws ReviewError if it is not an AdmissionReview of `admission.k8s.io/v1`.
 */
export function readReview(body: Buffer): AdmissionRequest {
  let review: unknown;
  try {
    review = JSON.parse(body.toString("utf8"));
  } catch {
    // The parser's message quotes the text, which may contain secrets.
    throw new ReviewError("the body is not JSON");
  }
  if (!isMapping(review) || review.kind !== "AdmissionReview" || review.apiVersion !== apiVersion) {
    throw new ReviewError(`the body is not an AdmissionReview of ${apiVersion}`);
  }
  const { request } = review;
  if (!isMapping(request)) throw new ReviewError("the AdmissionReview has no request");
  if (textOf(request.uid) === "") throw new ReviewError("the request of the AdmissionReview has no uid");
  const kind = isMapping(request.kind) ? request.kind : {};
  return {
    uid: textOf(request.uid),
    operation: textOf(request.operation),
    kind: { group: textOf(kind.group), version: textOf(kind.version), kind: textOf(kind.kind) },
    namespace: textOf(request.namespace),
    name: textOf(request.name),
    subResource: textOf(request.subResource),
    dryRun: request.dryRun === true,
    object: isMapping(request.object) ? request.object : undefined,
    oldObject: isMapping(request.oldObject) ? request.oldObject : undefined,
  };
}

/** Returns the body of a response. It omits an empty patch, as the API server requires. */
export function writeReview(uid: string, { patch, warnings, denied }: AdmissionResponse): string {
  const limited = toWarnings(warnings);
  const change =
    denied === undefined && patch !== undefined && patch.length > 0
      ? { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }
      : {};
  const decision =
    denied === undefined ? { allowed: true } : { allowed: false, status: { message: denied, code: 403 } };
  return JSON.stringify({
    kind: "AdmissionReview",
    apiVersion,
    response: { uid, ...decision, ...change, ...(limited.length > 0 ? { warnings: limited } : {}) },
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * The API server sends warnings as HTTP headers. It drops warnings with control characters, and truncates each to 256 characters
 * when all together exceed 4096
 * (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response).
 */
const maxLength = 256;
const maxWarnings = 10;

/** Returns texts as warnings that the API server sends whole: distinct single lines, at most ten of 256 characters. */
export function toWarnings(texts: Iterable<string>): readonly string[] {
  const warnings = [...new Set(Array.from(texts, oneLine))].filter((text) => text !== "");
  if (warnings.length <= maxWarnings) return warnings;
  return [...warnings.slice(0, maxWarnings - 1), `Wave: ${warnings.length - maxWarnings + 1} more warnings`];
}

function oneLine(text: string): string {
  const line = text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ");
  const characters = [...line.trim()];
  return characters.length <= maxLength ? characters.join("") : `${characters.slice(0, maxLength - 1).join("")}…`;
}
