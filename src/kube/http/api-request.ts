import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import type { LabelsOf } from "../../telemetry/metrics/series.ts";
import type { DigestedKind } from "./value-digests.ts";

/** One request to the API server. The client adds the credentials, and the base path of the server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path from the root of the server. See `resourcePath`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Requested media type of the response. Default "application/json". A response of another type is an error, unless it is JSON. */
  readonly accept?: string;
  /** Default "application/json"; for PATCH "application/json-patch+json" if the body is an array, otherwise merge-patch. */
  readonly contentType?: string;
  /** The kind of the objects in the response, which then has digests in place of their values: see `digestValues`. Default: values. */
  readonly digestsOf?: DigestedKind | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called immediately before the request is sent. That may be long after `request` was called, if credentials or a connection
   * are needed first. If it returns false, the request is not sent and fails, with the reason of the signal if that is aborted.
   */
  readonly mayBeSent?: (() => boolean) | undefined;
  /** Time limit for the whole response, in milliseconds; for `stream` until the response begins. Default 30,000. */
  readonly timeoutMs?: number;
}

/** A request in the terms of Kubernetes. */
export interface RequestInfo {
  /** Verb as in RBAC, audit log and metrics; the HTTP method in lower case for other paths. */
  readonly verb: string;
  /** Text for messages, such as "patch deployments/web in default". */
  readonly text: string;
  /** Undefined for paths without a resource, such as /version. */
  readonly target: "collection" | "object" | undefined;
}

const verbs = { GET: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;

/**
 * Returns verb and object from the method and path of a request
 * (https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb).
 */
export function requestInfo({ method, path, query }: Pick<ApiRequest, "method" | "path" | "query">): RequestInfo {
  const segments = path.split("/").filter((segment) => segment !== "");
  const version = segments[0] === "api" ? 2 : segments[0] === "apis" ? 3 : undefined;
  const rest = version === undefined ? [] : segments.slice(version);
  // Wave requests no subresource of a Namespace, which would be in the place of a kind.
  const inNamespace = rest[0] === "namespaces" && rest[2] !== undefined;
  const [plural, name, subresource] = inNamespace ? rest.slice(2) : rest;
  if (plural === undefined) {
    return { verb: method.toLowerCase(), text: `${method.toLowerCase()} ${path}`, target: undefined };
  }

  const verb = name === undefined ? verbOfMany(method, query) : verbs[method];
  const object = [plural, name, subresource].filter((part) => part !== undefined).join("/");
  const text = inNamespace ? `${verb} ${object} in ${rest[1]}` : `${verb} ${object}`;
  return { verb, text, target: name === undefined ? "collection" : "object" };
}

/** Returns the verb for a path of a collection. */
function verbOfMany(method: ApiRequest["method"], query: ApiRequest["query"]): string {
  if (method === "DELETE") return "deletecollection";
  if (method !== "GET") return verbs[method];
  const { watch } = query ?? {};
  return watch === undefined || ["false", "0", ""].includes(String(watch)) ? "list" : "watch";
}

/** Returns the labels of `wave_api_requests_total`. All values are known in advance. `code` is "error" if there was no response. */
export function requestLabels(
  { verb }: Pick<RequestInfo, "verb">,
  code: number | "error",
): LabelsOf<typeof clusterMetrics.requests> {
  const { verb: verbs, code: codes } = clusterMetrics.requests.labels;
  return {
    verb: verbs.find((known) => known === verb) ?? "other",
    code: codes.find((known) => known === String(code)) ?? "other",
  };
}
