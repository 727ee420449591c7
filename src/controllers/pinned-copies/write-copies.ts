import type { CopyAction } from "../../domain/pinning/collect.ts";
import { unusedSince } from "../../domain/references/annotations.ts";
import { fieldManager } from "../../domain/references/field-managers.ts";
import { refusalOf } from "../../kube/api/api-failure.ts";
import { isConflict, isNotFound } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { timestamp } from "../../kube/events/event-object.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";

/** What {@link writeCopy} needs. */
export interface WriteCopyOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly leadership: Leadership;
}

/**
 * The result of a write. "changed": the copy is no longer as it was read, or is gone. "refused": for example by an admission policy. Nothing was
 * written.
 */
export type CopyWriteResult = "marked" | "used" | "deleted" | "changed" | "refused";

/**
 * Carries out an action on a copy, only if the copy is as it was read. Each write that takes a copy into use changes its resourceVersion,
 * so a deletion that was decided before fails. Rejects with the other errors of requests.
 */
export async function writeCopy(
  namespace: string,
  action: CopyAction,
  { client, clock, leadership }: WriteCopyOptions,
): Promise<CopyWriteResult> {
  const path = resourcePath(resources.configMaps, { namespace, name: action.copy.name });
  const bounds = { path, signal: leadership.abort, mayBeSent: leadership.valid };
  try {
    await client.request({ ...requestOf(action, clock), ...bounds });
    return results[action.type];
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "changed";
    if (refusalOf(error) !== undefined) return "refused";
    throw error;
  }
}

const results = { mark: "marked", use: "used", delete: "deleted" } as const;

function requestOf(action: CopyAction, clock: Clock): Omit<ApiRequest, "path"> {
  const { uid, resourceVersion } = action.copy;
  switch (action.type) {
    case "mark":
      return mergePatch({ uid, resourceVersion, annotations: { [unusedSince]: timestamp(clock) } });
    case "use": {
      const { owners } = action;
      const metadata = { uid, resourceVersion, annotations: { [unusedSince]: null } };
      return mergePatch(owners === undefined ? metadata : { ...metadata, ownerReferences: owners });
    }
    case "delete":
      return { method: "DELETE", body: { preconditions: { uid, resourceVersion } } };
  }
}

function mergePatch(metadata: object): Omit<ApiRequest, "path"> {
  const contentType = "application/merge-patch+json";
  return { method: "PATCH", query: { fieldManager }, contentType, body: { metadata } };
}
