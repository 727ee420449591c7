import type { ApiObject } from "../objects/object.ts";
import type { SandboxResource } from "../objects/resources.ts";
import { conflict } from "../objects/status-error.ts";
import type { Registry, WriteOptions } from "../registry/registry.ts";
import { hasWebhooks, mutatedByWebhooks, type WebhookCaller } from "../registry/webhooks.ts";

/** The maximum number of attempts of a write whose object changes during the calls of webhooks: MaxRetryWhenPatchConflicts. */
const tries = 5;

/**
 * Writes an object, after the webhooks that match the write have reviewed it. Then `write` runs more than once: first as a dry run
 * that returns the object to review, and again from the start if the object was written meanwhile.
 */
export function reviewed<O extends WriteOptions, T>(
  registry: Registry,
  resource: SandboxResource,
  options: O,
  write: (options: O) => T,
): T | Promise<T> {
  const { webhooks, storage } = registry;
  if (webhooks === undefined || options.subresource !== undefined || !hasWebhooks(storage, resource)) {
    return write(options);
  }
  return reviewedWrite(webhooks);

  async function reviewedWrite(caller: WebhookCaller): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const { object, before } = dryRun(write, options);
      const operation = before === undefined ? "CREATE" : "UPDATE";
      const { dryRun: isDryRun, fieldManager, warn } = options;
      const request = {
        operation,
        resource,
        object,
        oldObject: before,
        options: { fieldManager },
        dryRun: isDryRun,
      } as const;
      const mutated = await mutatedByWebhooks(registry, caller, request, warn);
      const { namespace, name } = object.metadata;
      const live = storage.get(resource, namespace, name);
      if (live?.metadata.resourceVersion === before?.metadata.resourceVersion) {
        return write({ ...options, mutate: (again) => withSystemFieldsOf(again, mutated) });
      }
      if (attempt === tries - 1) throw conflict(resource, name);
    }
  }
}

/** A generated name, the uid and the time of creation are another in each dry run. */
function withSystemFieldsOf({ metadata }: ApiObject, object: ApiObject): ApiObject {
  const { name, uid, creationTimestamp } = metadata;
  return { ...object, metadata: { ...object.metadata, name, uid, creationTimestamp } };
}

/** What a write is about: the object as it would be stored, and what it would be stored over. */
interface Subject {
  readonly object: ApiObject;
  readonly before: ApiObject | undefined;
}

/** Throws what the write would throw. */
function dryRun<O extends WriteOptions>(write: (options: O) => unknown, options: O): Subject {
  let subject: Subject | undefined;
  const mutate = (object: ApiObject, before: ApiObject | undefined) => {
    subject = { object, before };
    return object;
  };
  write({ ...options, dryRun: true, warn: () => {}, mutate });
  if (subject === undefined) throw new Error("a write that stores nothing was to be reviewed");
  return subject;
}
