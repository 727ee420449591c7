import type { KubeList } from "../api/api-types.ts";
import { ApiError, foreignResponseText } from "../api/errors.ts";
import type { RequestInfo } from "./request-info.ts";
import { mediaTypeOf } from "./response-body.ts";
import type { TransportResponse } from "./transport.ts";
import { type DigestedKind, parseJson } from "./value-digests.ts";

type ResponseHead = Pick<TransportResponse, "status" | "headers">;

/** Returns the error for a response with status 2xx that no API server sends, such as a login page. `what` describes its body. */
export function foreignResponse(request: string, response: ResponseHead, what = ""): ApiError {
  const serverMessage = foreignResponseText(mediaTypeOf(response), what);
  return new ApiError({ request, status: response.status, reason: "", serverMessage });
}

/** Reports whether a response may be JSON. As in client-go, a response without a media type may be. */
export function isJson(response: ResponseHead): boolean {
  return ["", "application/json"].includes(mediaTypeOf(response));
}

/**
 * Returns the parsed body of a response with status 2xx, and overwrites the bytes. An object has metadata with a name, and a list has items.
 * @throws ApiError for any other body. The error has no part of the body, which may be a Secret.
 */
export function parseResponse(body: Buffer, info: RequestInfo, response: ResponseHead, digestsOf?: DigestedKind) {
  const parsed = parseJson(body, digestsOf);
  body.fill(0);
  const mistake = mistakeOf(parsed, info);
  if (mistake !== undefined) throw foreignResponse(info.text, response, mistake);
  return parsed;
}

function mistakeOf(parsed: unknown, { verb, target }: RequestInfo): string | undefined {
  if (parsed === undefined) return "not JSON";
  if (verb === "list") return isList(parsed) ? undefined : notList;
  const isStored = target === "object" && ["get", "update", "patch"].includes(verb);
  return (isStored ? isNamed(parsed) : parsed !== null) ? undefined : "not an object";
}

function isNamed(parsed: unknown): boolean {
  return isMapping(parsed) && isMapping(parsed.metadata) && typeof parsed.metadata.name === "string";
}

/** Describes the body of a response that is no list. */
export const notList = "not a list";

/** Reports whether a parsed body is a list. A list without objects may have `null` as items. */
export function isList(parsed: unknown): parsed is KubeList<never> {
  return isMapping(parsed) && isMapping(parsed.metadata) && (parsed.items === null || Array.isArray(parsed.items));
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
