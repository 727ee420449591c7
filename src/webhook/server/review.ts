import type { JsonPatch } from "../../domain/patch/workload-patch.ts";
import { toWarnings } from "./warnings.ts";

/** An object under admission: JSON of which nothing is known yet but that it is an object. */
export type AdmittedObject = Readonly<Record<string, unknown>>;

/** What the API server asks, from an `admission.k8s.io/v1` AdmissionReview. */
export interface AdmissionRequest {
  /** Names this request; goes back in the answer. */
  readonly uid: string;
  readonly operation: string;
  /** The kind that the object is sent as, such as "apps/v1, Kind=Deployment". */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** "" for an object without a namespace. */
  readonly namespace: string;
  /** "" while the API server has not made one from `generateName`. */
  readonly name: string;
  /** Such as "scale"; "" for the object itself. */
  readonly subResource: string;
  /** Undefined on DELETE. */
  readonly object: AdmittedObject | undefined;
  /** Undefined on CREATE. */
  readonly oldObject: AdmittedObject | undefined;
}

/**
 * What Wave answers: allowed, perhaps changed, with what the person at the keyboard should know. Denied only where the request
 * has a precondition of its own that fails.
 */
export interface AdmissionAnswer {
  readonly patch: JsonPatch | undefined;
  readonly warnings: readonly string[];
  /** Why it is denied, in one line; undefined: it is allowed. */
  readonly denied?: string | undefined;
}

/** A body that is no AdmissionReview: one line that says what is wrong with it, never any of its content. */
export class ReviewError extends Error {
  override readonly name = "ReviewError";
}

const apiVersion = "admission.k8s.io/v1";

/**
 * Reads the body of a request (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request).
 * @throws ReviewError where it is none of `admission.k8s.io/v1`.
 */
export function readReview(body: Buffer): AdmissionRequest {
  let review: unknown;
  try {
    review = JSON.parse(body.toString("utf8"));
  } catch {
    // The parser's message quotes the text, which may hold anything.
    throw new ReviewError("the body is not JSON");
  }
  if (!isObject(review) || review.kind !== "AdmissionReview" || review.apiVersion !== apiVersion) {
    throw new ReviewError(`the body is not an AdmissionReview of ${apiVersion}`);
  }
  const { request } = review;
  if (!isObject(request)) throw new ReviewError("the AdmissionReview has no request");
  if (textOf(request.uid) === "") throw new ReviewError("the request of the AdmissionReview has no uid");
  const kind = isObject(request.kind) ? request.kind : {};
  return {
    uid: textOf(request.uid),
    operation: textOf(request.operation),
    kind: { group: textOf(kind.group), version: textOf(kind.version), kind: textOf(kind.kind) },
    namespace: textOf(request.namespace),
    name: textOf(request.name),
    subResource: textOf(request.subResource),
    object: isObject(request.object) ? request.object : undefined,
    oldObject: isObject(request.oldObject) ? request.oldObject : undefined,
  };
}

/** The body of an answer; an empty patch is left out, as the API server requires. */
export function writeReview(uid: string, { patch, warnings, denied }: AdmissionAnswer): string {
  const fitting = toWarnings(warnings);
  const change =
    denied === undefined && patch !== undefined && patch.length > 0
      ? { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }
      : {};
  const verdict = denied === undefined ? { allowed: true } : { allowed: false, status: { message: denied, code: 403 } };
  return JSON.stringify({
    kind: "AdmissionReview",
    apiVersion,
    response: { uid, ...verdict, ...change, ...(fitting.length > 0 ? { warnings: fitting } : {}) },
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
