import { type Json, type JsonObject, objectOf } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { badRequest, methodNotAllowed, notFound } from "../objects/status-error.ts";
import { applyJsonPatch } from "../patches/json-patch.ts";
import { applyMergePatch } from "../patches/merge-patch.ts";
import { remove } from "../registry/deletion.ts";
import { create, type Registry, update, type WriteOptions } from "../registry/registry.ts";
import { reviewed } from "./admission.ts";
import { listPage, type Scope, selectorOf } from "./list.ts";
import { type PatchType, patch, patchTypeOf } from "./patch.ts";
import { representationOf, representList, representObject } from "./representation.ts";
import { isTrue, type Target } from "./request-info.ts";
import { scaleOf, updateScale } from "./scale.ts";

/** A request for objects, without anything of HTTP but its words. */
export interface ResourceRequest {
  readonly verb: string;
  readonly target: Extract<Target, { type: "resource" }>;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: Json | undefined;
  /** Receives each warning for the person who sent the request. */
  readonly warn: (text: string) => void;
}

/** What is answered, as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Answers every verb but watch. Throws a `StatusError` for what is refused. */
export async function answer(registry: Registry, request: ResourceRequest): Promise<Answer> {
  const { verb, target, query, accept } = request;
  const { resource, namespace, name, subresource } = target;
  const form = representationOf(accept, query);
  const now = registry.clock.wall();
  const scope: Scope = { resource, namespace, query };
  const shown = (object: ApiObject) => representObject(form, resource, object, now);
  if (verb === "list")
    return { status: 200, body: representList(form, resource, listPage(registry.storage, scope), now) };
  if (verb === "deletecollection") return deleteCollection(registry, scope, request.body);
  if (subresource === "eviction") return evict(registry, request, name ?? "");
  if (verb === "create") {
    if (name !== undefined || (resource.namespaced && namespace === undefined)) throw methodNotAllowed();
    const body = bodyOf(request);
    const object = await reviewed(registry, resource, writeOptions(request), (options) =>
      create(registry, resource, namespace, body, options),
    );
    return { status: 201, body: shown(object) };
  }
  if (name === undefined) throw methodNotAllowed();
  if (subresource === "scale") return scale(registry, request, name);
  switch (verb) {
    case "get": {
      const object = registry.storage.get(resource, namespace, name);
      if (object === undefined) throw notFound(resource, name);
      return { status: 200, body: shown(object) };
    }
    case "update": {
      const body = bodyOf(request);
      const object = await reviewed(registry, resource, writeOptions(request), (options) =>
        update(registry, resource, namespace, name, body, options),
      );
      return { status: 200, body: shown(object) };
    }
    case "patch": {
      const type = patchTypeOf(request.contentType);
      const body = bodyOf(request);
      const { object, created } = await reviewed(registry, resource, writeOptions(request), (options) =>
        patch(registry, resource, namespace, name, type, body, options),
      );
      return { status: created ? 201 : 200, body: shown(object) };
    }
    case "delete":
      return deleteOne(registry, request, name);
    default:
      throw methodNotAllowed();
  }
}

function bodyOf({ body }: ResourceRequest): Json {
  if (body === undefined) throw badRequest("the request has no body");
  return body;
}

function writeOptions({
  query,
  userAgent,
  target,
  warn,
}: ResourceRequest): WriteOptions & { force: boolean; namedManager: boolean } {
  const manager = query.get("fieldManager") ?? "";
  const validation = query.get("fieldValidation");
  return {
    fieldManager: manager || userAgent.split("/")[0] || "unknown",
    namedManager: manager !== "",
    dryRun: query.get("dryRun") === "All",
    force: isTrue(query.get("force")),
    subresource: target.subresource === "eviction" ? undefined : target.subresource,
    strict: validation === "Strict",
    warn: validation === "Ignore" ? () => {} : warn,
  };
}

/** Options of a deletion may come in the query as well as in the body. */
function deleteOptions({ query, body }: Pick<ResourceRequest, "query" | "body">): JsonObject {
  const fromQuery: { [field: string]: Json } = {};
  for (const field of ["propagationPolicy", "gracePeriodSeconds"]) {
    const value = query.get(field);
    if (value !== null) fromQuery[field] = value;
  }
  return { ...fromQuery, ...objectOf(body) };
}

function isDryRun(query: URLSearchParams, body: Json | undefined): boolean {
  return query.get("dryRun") === "All" || JSON.stringify(objectOf(body).dryRun) === '["All"]';
}

function deleteOne(registry: Registry, request: ResourceRequest, name: string): Answer {
  const { resource, namespace } = request.target;
  const dryRun = isDryRun(request.query, request.body);
  const { object, gone } = remove(registry, resource, namespace, name, deleteOptions(request), dryRun);
  if (!gone && !dryRun) return { status: 200, body: object };
  const details = { name, group: resource.group || undefined, kind: resource.plural, uid: object.metadata.uid };
  return { status: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
}

/** Deletes a Pod as an eviction. There are no disruption budgets. https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/ */
function evict(registry: Registry, request: ResourceRequest, name: string): Answer {
  if (request.verb !== "create") throw methodNotAllowed();
  const { resource, namespace } = request.target;
  remove(
    registry,
    resource,
    namespace,
    name,
    objectOf(bodyOf(request)).deleteOptions,
    isDryRun(request.query, undefined),
  );
  return { status: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" } };
}

function deleteCollection(registry: Registry, scope: Scope, body: Json | undefined): Answer {
  const { resource, query } = scope;
  const items = registry.storage.list(resource, scope.namespace).filter(selectorOf(scope));
  for (const { metadata } of items) {
    remove(
      registry,
      resource,
      metadata.namespace,
      metadata.name,
      deleteOptions({ query, body }),
      isDryRun(query, body),
    );
  }
  const metadata = { resourceVersion: String(registry.storage.revision) };
  return { status: 200, body: representList({ type: "object" }, resource, { items, metadata }, 0) };
}

function scale(registry: Registry, request: ResourceRequest, name: string): Answer {
  const { resource, namespace } = request.target;
  const live = registry.storage.get(resource, namespace, name);
  if (live === undefined) throw notFound(resource, name);
  if (request.verb === "get") return { status: 200, body: scaleOf(live) };
  const options = writeOptions(request);
  if (request.verb === "update") {
    return { status: 200, body: updateScale(registry, resource, live, bodyOf(request), options) };
  }
  if (request.verb !== "patch") throw methodNotAllowed();
  const patched = patchedScale(patchTypeOf(request.contentType), scaleOf(live), bodyOf(request));
  return { status: 200, body: updateScale(registry, resource, live, patched, options) };
}

/** A Scale has no lists, so that a merge patch and a strategic one are the same. */
function patchedScale(type: PatchType, current: JsonObject, body: Json): Json {
  return type === "json" ? applyJsonPatch(current, body) : applyMergePatch(current, body);
}
