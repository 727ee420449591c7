import { type Decoded, decode } from "../objects/decode.ts";
import { withDefaults } from "../objects/defaults.ts";
import { isList, type Json, type JsonObject, objectOf, sameJson, stringOf, without } from "../objects/json.ts";
import { inFieldOrder } from "../objects/normalize.ts";
import { type ApiObject, type ManagedFieldsEntry, timestamp } from "../objects/object.ts";
import { resources, type SandboxResource } from "../objects/resources.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  namespaceTerminating,
  notFound,
  StatusError,
} from "../objects/status-error.ts";
import { mistakesInChange, mistakesOf } from "../objects/validation.ts";
import { type FieldManager, recordUpdate, withManagedFields } from "../patches/managed-fields.ts";
import type { Clock } from "../time/clock.ts";
import type { Storage } from "./storage.ts";
import { isNoOp, replacement, withGeneration, withStatusOf } from "./update-strategy.ts";
import type { WebhookCaller } from "./webhooks.ts";

/** What every verb works on. */
export interface Registry {
  readonly storage: Storage;
  readonly clock: Clock;
  /** A number from 0 up to 1, for generated names. */
  readonly random: () => number;
  /** A new unique identifier. */
  readonly uuid: () => string;
  /** Undefined: no webhook is ever called. Controllers' own writes are not reviewed either way. */
  readonly webhooks?: WebhookCaller | undefined;
  /** What an admission policy makes of a Pod that a controller creates. */
  readonly admitPod?: ((pod: ApiObject) => ApiObject) | undefined;
}

/** The options of a write, in addition to the object. */
export interface WriteOptions {
  readonly fieldManager: string;
  /** Everything is checked and answered as usual, and nothing is stored. */
  readonly dryRun: boolean;
  readonly subresource?: "status" | "scale" | undefined;
  /** An unknown field is an error: `fieldValidation=Strict`. */
  readonly strict: boolean;
  /** Receives each warning for the person who sent the request. */
  readonly warn: (text: string) => void;
  /** What admission makes of the object that would be stored over `before`. */
  readonly mutate?: ((object: ApiObject, before: ApiObject | undefined) => ApiObject) | undefined;
}

/** Creates an object. https://kubernetes.io/docs/reference/using-api/api-concepts/ Throws a `StatusError`. */
export function create(
  registry: Registry,
  resource: SandboxResource,
  namespace: string | undefined,
  body: Json,
  options: WriteOptions,
  applied?: readonly ManagedFieldsEntry[],
): ApiObject {
  const decoded = checkedDecode(resource, body, options);
  const sent = objectOf(decoded.metadata);
  checkNamespace(sent, namespace);
  if (sent.resourceVersion !== undefined) {
    throw new StatusError(500, undefined, "resourceVersion should not be set on objects to be created");
  }
  const generated = sent.name === undefined && sent.generateName !== undefined;
  const name = generated ? `${sent.generateName}${randomSuffix(registry.random)}` : stringOf(sent.name);
  if (resource.namespaced) checkNamespaceTakesObjects(registry.storage, resource, name, namespace);
  const metadata = {
    ...without(sent, "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink", "namespace"),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: registry.uuid(),
    resourceVersion: "",
    creationTimestamp: timestamp(registry.clock.wall()),
    ...(resource.generation === undefined ? {} : { generation: 1 }),
  } as ApiObject["metadata"];
  const known = resource.subresources.includes("status") ? without(decoded, "status") : decoded;
  const object = checked(resource, undefined, { ...known, metadata } as ApiObject);
  if (registry.storage.get(resource, namespace, name) !== undefined) throw alreadyExists(resource, name);
  const owned =
    applied === undefined
      ? recordUpdate(undefined, object, writerOf(registry, options))
      : withManagedFields(object, applied);
  const mutated = afterAdmission(resource, undefined, owned, options);
  return options.dryRun ? mutated : registry.storage.put(resource, mutated);
}

/** Replaces an object, or only its status. Throws a `StatusError`: 404, or 409 if the write was made against another version. */
export function update(
  registry: Registry,
  resource: SandboxResource,
  namespace: string | undefined,
  name: string,
  body: Json,
  options: WriteOptions,
  applied?: readonly ManagedFieldsEntry[],
): ApiObject {
  const decoded = checkedDecode(resource, body, options);
  const sent = objectOf(decoded.metadata);
  checkNamespace(sent, namespace);
  if (sent.name !== undefined && sent.name !== name) {
    throw badRequest(`the name of the object (${sent.name}) does not match the name on the URL (${name})`);
  }
  const live = registry.storage.get(resource, namespace, name);
  if (live === undefined) throw notFound(resource, name);
  if (sent.uid !== undefined && sent.uid !== live.metadata.uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${sent.uid}, UID in object meta: ${live.metadata.uid}`,
    );
  }
  if (sent.resourceVersion !== undefined && sent.resourceVersion !== live.metadata.resourceVersion) {
    throw conflict(resource, name);
  }
  const ofStatus = options.subresource === "status";
  const candidate = ofStatus ? withStatusOf(live, decoded) : replacement(resource, live, decoded);
  const object = checked(resource, live, candidate);
  const owned =
    applied === undefined
      ? recordUpdate(withSentManagers(live, sent.managedFields), object, writerOf(registry, options))
      : withManagedFields(object, applied);
  const mutated = afterAdmission(resource, live, owned, options);
  if (isNoOp(live, mutated)) return live;
  const next = ofStatus ? mutated : withGeneration(resource, live, mutated);
  if (options.dryRun) return next;
  if (isFinished(next)) {
    registry.storage.remove(resource, namespace, name);
    return next;
  }
  return registry.storage.put(resource, next);
}

/** Reports whether an object is being deleted and can be removed: it has no finalizers and no grace period. */
export function isFinished({ metadata, kind, spec }: ApiObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  if (kind === "Namespace") return !isList(objectOf(spec).finalizers);
  return (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

/** Returns the field manager of a write, with the current time. */
export function writerOf(registry: Registry, { fieldManager, subresource }: WriteOptions): FieldManager {
  const time = timestamp(registry.clock.wall());
  return { manager: fieldManager, operation: "Update", subresource, time };
}

function checkedDecode(resource: SandboxResource, body: Json, { strict, warn }: WriteOptions): JsonObject {
  const { object, unknown }: Decoded = decode(resource, body);
  if (unknown.length === 0) return object;
  const problems = unknown.map((field) => `unknown field ${JSON.stringify(field)}`);
  if (strict) {
    const version = JSON.stringify(object.apiVersion);
    const why = `strict decoding error: ${problems.join(", ")}`;
    throw badRequest(`${resource.kind} in version ${version} cannot be handled as a ${resource.kind}: ${why}`);
  }
  for (const problem of problems) warn(problem);
  return object;
}

/** Returns the live object with the entries of managedFields that a client sends. Without any, the server keeps its own. */
function withSentManagers(live: ApiObject, sent: Json | undefined): ApiObject {
  const own = live.metadata.managedFields ?? [];
  if (!Array.isArray(sent) || sent.length === 0 || sameJson(sent, own)) return live;
  const isEntry = (entry: Json) => objectOf(entry).fieldsType === "FieldsV1";
  return sent.every(isEntry) ? withManagedFields(live, sent as unknown as readonly ManagedFieldsEntry[]) : live;
}

function checkNamespace(sent: JsonObject, namespace: string | undefined): void {
  if (sent.namespace === undefined || sent.namespace === namespace) return;
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

function checkNamespaceTakesObjects(storage: Storage, resource: SandboxResource, name: string, namespace = ""): void {
  const found = storage.get(resources.namespaces, undefined, namespace);
  if (found === undefined) throw notFound(resources.namespaces, namespace);
  if (found.metadata.deletionTimestamp !== undefined) throw namespaceTerminating(resource, name, namespace);
}

/** With defaults and the labels that the server sets, and fields in order; throws 422 where the object breaks a rule of its kind. */
function checked(resource: SandboxResource, before: ApiObject | undefined, candidate: ApiObject): ApiObject {
  const labelled = withServerLabels(before, withAllDefaults(candidate));
  const mistakes = mistakesOf(labelled);
  if (before !== undefined) mistakes.push(...mistakesInChange(before, labelled));
  if (mistakes.length > 0) throw invalid(resource, labelled.metadata.name, mistakes);
  return inFieldOrder(labelled) as ApiObject;
}

/** Returns the object after admission. Managed fields are computed before, so no manager owns what a webhook adds. */
function afterAdmission(
  resource: SandboxResource,
  before: ApiObject | undefined,
  object: ApiObject,
  { mutate }: WriteOptions,
): ApiObject {
  if (mutate === undefined) return object;
  const { managedFields = [] } = object.metadata;
  return withManagedFields(checked(resource, before, mutate(object, before)), managedFields);
}

function withAllDefaults(object: ApiObject): ApiObject {
  return { ...withDefaults(object.kind, object), metadata: object.metadata } as ApiObject;
}

/** Labels and annotations that the server itself sets and keeps. */
function withServerLabels(before: ApiObject | undefined, object: ApiObject): ApiObject {
  const { metadata, kind } = object;
  if (kind === "Namespace") {
    return {
      ...object,
      metadata: { ...metadata, labels: { ...metadata.labels, [namespaceNameLabel]: metadata.name } },
    };
  }
  if (kind !== "DaemonSet") return object;
  const last = Number(before?.metadata.annotations?.[templateGeneration] ?? 0);
  const changed = before === undefined || !sameJson(objectOf(before.spec).template, objectOf(object.spec).template);
  const annotations = { ...metadata.annotations, [templateGeneration]: String(changed ? last + 1 : last) };
  return { ...object, metadata: { ...metadata, annotations } };
}

const namespaceNameLabel = "kubernetes.io/metadata.name";
const templateGeneration = "deprecated.daemonset.template.generation";

/** Five characters as Kubernetes makes them: no vowels, nothing that looks like another. */
function randomSuffix(random: () => number): string {
  const alphabet = "bcdfghjklmnpqrstvwxz2456789";
  return Array.from({ length: 5 }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}
