import { type Json, type JsonObject, listOf, objectOf, stringOf } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { resources, type SandboxResource } from "../objects/resources.ts";
import { matchesLabelSelector } from "../objects/selectors.ts";
import { StatusError } from "../objects/status-error.ts";
import { applyJsonPatch } from "../patches/json-patch.ts";
import type { Storage } from "./storage.ts";

/** A write that webhooks are asked about. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE";
  readonly resource: SandboxResource;
  readonly object: ApiObject;
  readonly oldObject: ApiObject | undefined;
  /** Such as `fieldManager`. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
}

/** How a sandbox reaches webhooks. */
export interface WebhookCaller {
  /** Sends an AdmissionReview and returns the response; rejects if there is none within `timeoutMs`. */
  readonly call: (clientConfig: JsonObject, review: JsonObject, timeoutMs: number) => Promise<Json>;
  /** Evaluates a match condition. There is no CEL here, so the code that registers a condition also gives its meaning. */
  readonly matches: (expression: string, request: AdmissionRequest) => boolean;
}

/**
 * Returns the object after the changes of the registered mutating webhooks.
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 * Throws a `StatusError` if a webhook rejects the object, or if the call fails and `failurePolicy` is not `Ignore`.
 */
export async function mutatedByWebhooks(
  { storage, uuid }: { readonly storage: Storage; readonly uuid: () => string },
  { call, matches }: WebhookCaller,
  request: AdmissionRequest,
  warn: (text: string) => void,
): Promise<ApiObject> {
  let object = request.object;
  for (const webhook of webhooksFor(storage, request)) {
    const current = { ...request, object };
    const conditions = listOf(webhook.matchConditions).map((condition) => stringOf(objectOf(condition).expression));
    if (!conditions.every((expression) => matches(expression, current))) continue;
    const uid = uuid();
    const timeoutMs = Number(webhook.timeoutSeconds) * 1000;
    try {
      const answer = await call(objectOf(webhook.clientConfig), reviewOf(uid, current), timeoutMs);
      object = applied(object, objectOf(objectOf(answer).response), stringOf(webhook.name), warn);
    } catch (error) {
      if (error instanceof StatusError) throw error;
      if (webhook.failurePolicy === "Ignore") continue;
      const why = `Internal error occurred: failed calling webhook ${JSON.stringify(webhook.name)}: ${String(error)}`;
      throw new StatusError(500, "InternalError", why, {});
    }
  }
  return object;
}

/** Reports whether a registered webhook has a rule for this kind. */
export function hasWebhooks(storage: Storage, resource: SandboxResource): boolean {
  return registered(storage).some((webhook) => isRuledIn(webhook, resource, undefined));
}

function webhooksFor(storage: Storage, { resource, operation, object }: AdmissionRequest): readonly JsonObject[] {
  const namespace = storage.get(resources.namespaces, undefined, object.metadata.namespace ?? "");
  return registered(storage).filter(
    (webhook) =>
      isRuledIn(webhook, resource, operation) &&
      (namespace === undefined || selects(webhook.namespaceSelector, namespace)) &&
      selects(webhook.objectSelector, object),
  );
}

function registered(storage: Storage): readonly JsonObject[] {
  const configurations = storage.list(resources.mutatingWebhookConfigurations);
  return configurations.flatMap(({ webhooks }) => listOf(webhooks).map(objectOf));
}

function isRuledIn({ rules }: JsonObject, resource: SandboxResource, operation: string | undefined): boolean {
  const names = (list: Json | undefined, wanted: string) => {
    const found = listOf(list);
    return found.includes("*") || found.includes(wanted);
  };
  return listOf(rules).some((item) => {
    const rule = objectOf(item);
    return (
      names(rule.apiGroups, resource.group) &&
      names(rule.resources, resource.plural) &&
      (operation === undefined || names(rule.operations, operation))
    );
  });
}

function selects(selector: Json | undefined, { metadata }: ApiObject): boolean {
  return matchesLabelSelector(objectOf(selector), metadata.labels ?? {});
}

function reviewOf(uid: string, request: AdmissionRequest): JsonObject {
  const { resource, operation, object, oldObject, options, dryRun } = request;
  const { group, version, kind, plural } = resource;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid,
      kind: { group, version, kind },
      resource: { group, version, resource: plural },
      requestKind: { group, version, kind },
      requestResource: { group, version, resource: plural },
      name: object.metadata.name,
      namespace: object.metadata.namespace,
      operation,
      userInfo: {},
      object,
      oldObject: oldObject ?? null,
      dryRun,
      options: { kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions", ...options },
    },
  };
}

function applied(
  object: ApiObject,
  { allowed, patch, warnings, status }: JsonObject,
  name: string,
  warn: (text: string) => void,
): ApiObject {
  for (const text of listOf(warnings)) warn(String(text));
  if (allowed !== true) {
    const why = stringOf(objectOf(status).message) || "without explanation";
    const message = `admission webhook ${JSON.stringify(name)} denied the request: ${why}`;
    throw new StatusError(
      Number(objectOf(status).code ?? 403),
      stringOf(objectOf(status).reason) || undefined,
      message,
    );
  }
  if (typeof patch !== "string") return object;
  return applyJsonPatch(object, JSON.parse(Buffer.from(patch, "base64").toString()) as Json) as ApiObject;
}
