import type { JsonObject } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { apiVersionOf, type SandboxResource } from "../objects/resources.ts";
import { parseFieldSelector, parseLabelSelector, type Selector } from "../objects/selectors.ts";
import { badRequest, expired, invalidKind, tooLargeResourceVersion } from "../objects/status-error.ts";
import { keyOf, type Storage } from "../registry/storage.ts";

/** What a list or watch is asked for. */
export interface Scope {
  readonly resource: SandboxResource;
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
}

/** A page of a list. */
export interface ListPage {
  readonly items: readonly ApiObject[];
  /** `resourceVersion`, and where there is more `continue` and perhaps `remainingItemCount`. */
  readonly metadata: JsonObject;
}

/** Combines the label and field selectors of a list or watch. Throws 400 if one of them is invalid. */
export function selectorOf({ resource, query }: Scope): Selector {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(resource, query.get("fieldSelector") ?? "");
  return (object) => labels(object) && fields(object);
}

/**
 * Returns one page of a list. All pages of a list show the state at the same resourceVersion.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 * Throws 400 for an invalid token or selector, and 410 if the resourceVersion is no longer in the history.
 */
export function listPage(storage: Storage, scope: Scope): ListPage {
  const { resource, namespace, query } = scope;
  checkOptions(query);
  const selector = selectorOf(scope);
  const limit = Number(query.get("limit") ?? 0);
  const token = query.get("continue") || undefined;
  const start = token === undefined ? undefined : decodeToken(token);
  const revision = start?.revision ?? revisionOf(storage, query);
  const all =
    revision === storage.revision ? storage.list(resource, namespace) : storage.listAt(revision, resource, namespace);
  if (all === undefined) throw expired(start === undefined ? tooOld(revision, storage) : tokenExpired);
  const rest = start === undefined ? all : all.filter((object) => keyOf(object) > start.after);
  const matching = rest.filter(selector);
  if (limit <= 0 || matching.length <= limit) {
    return { items: matching, metadata: { resourceVersion: String(revision) } };
  }
  const items = matching.slice(0, limit);
  const last = items.at(-1);
  const selects = query.has("labelSelector") || query.has("fieldSelector");
  const metadata = {
    resourceVersion: String(revision),
    continue: encodeToken(revision, last === undefined ? "" : keyOf(last)),
    // With a selector the server does not know how many more match.
    remainingItemCount: selects ? undefined : matching.length - limit,
  };
  return { items, metadata };
}

/** Returns a page as a list object of its kind. */
export function listObject(resource: SandboxResource, { items, metadata }: ListPage): JsonObject {
  // Items of a typed list leave out what the list says already.
  const slim = items.map(({ kind: _, apiVersion: __, ...object }) => object);
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items: slim };
}

const tokenExpired =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";

function tooOld(revision: number, storage: Storage): string {
  return `too old resource version: ${revision} (${storage.forgotten})`;
}

function checkOptions(query: URLSearchParams): void {
  if (query.has("sendInitialEvents")) {
    throw invalidKind("meta.k8s.io", "ListOptions", "", [
      {
        reason: "FieldValueForbidden",
        field: "sendInitialEvents",
        message: "Forbidden: sendInitialEvents is forbidden for list",
      },
    ]);
  }
  if (query.has("resourceVersionMatch") && !query.get("resourceVersion")) {
    throw invalidKind("meta.k8s.io", "ListOptions", "", [
      {
        reason: "FieldValueForbidden",
        field: "resourceVersionMatch",
        message: "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
      },
    ]);
  }
}

/** The revision that a list without a token shows: the current one, unless exactly another is asked for. */
function revisionOf(storage: Storage, query: URLSearchParams): number {
  const asked = parseResourceVersion(query.get("resourceVersion"));
  if (asked > storage.revision) throw tooLargeResourceVersion(asked, storage.revision);
  return query.get("resourceVersionMatch") === "Exact" ? asked : storage.revision;
}

/** Returns a resourceVersion as a number; 0 if it is absent. Throws 400 if it is not a number. */
export function parseResourceVersion(text: string | null): number {
  if (text === null || text === "") return 0;
  if (!/^\d+$/.test(text)) throw badRequest(`resourceVersion: Invalid value: ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function encodeToken(revision: number, after: string): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: after })).toString("base64url");
}

function decodeToken(token: string): { revision: number; after: string } {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, "base64url").toString()) as { rv?: unknown; start?: unknown };
    if (typeof rv === "number" && typeof start === "string") return { revision: rv, after: start };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw badRequest("invalid continue token: continue key is not valid");
}
