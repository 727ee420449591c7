import { type LegacyRead, readLegacy } from "../../../cache/live/legacy-reads.ts";
import { liveLookup } from "../../../cache/live/live-configs.ts";
import { createLiveReader } from "../../../cache/live/live-reader.ts";
import { readWithBorrowedTemplate } from "../../../cache/workloads/template-source-reads.ts";
import { grantedObjects } from "../../../domain/config/cross-namespace.ts";
import { resourceName } from "../../../domain/model/kind-row.ts";
import { toWorkload, type Workload } from "../../../domain/model/workload.ts";
import type { Lookup } from "../../../domain/plan/plan.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { type ConfigName, configKey, parseStoredKey } from "../../../domain/references/references.ts";
import { isForbidden } from "../../../kube/api/errors.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type WriteFailure, writeFailure } from "../apply/write-failure.ts";

/** Reads what is stored at this moment, for workloads of which the caches may be behind. Throws what requests throw. */
export interface LiveReads {
  /** Finds what a workload references. Of another namespace only what the caches know to be shared with it is read. */
  readonly lookup: (workload: Workload) => Promise<Lookup>;
  /** Whether all of these exist. */
  readonly exist: (objects: readonly ConfigName[]) => Promise<boolean>;
  /** The workload as it is now, undefined where it is gone. */
  readonly workload: (before: Workload) => Promise<Workload | undefined>;
  /** The workload and what it reads, with the hash that another controller would record; undefined where it is gone. */
  readonly legacy: (before: Workload) => Promise<LegacyRead | undefined>;
}

/** Of one object, in milliseconds. */
const timeoutMs = 10_000;
/** Maximum number of concurrent reads for one workload. */
const concurrency = 4;

/** Each object is read once for all who ask for it at the same time. `signal` ends all reads. */
export function createLiveReads(options: {
  readonly client: Pick<ApiClient, "request">;
  readonly policy: Policy;
  readonly cached: Lookup;
  readonly signal: AbortSignal;
}): LiveReads {
  const { client, policy, cached, signal } = options;
  const bounds = { timeoutMs, signal };
  const reader = createLiveReader({ client, compatibility: policy.compatibility, bounds, concurrency });

  return {
    lookup: async (workload) => liveLookup(await reader.readAll(grantedObjects(workload, cached, policy)), cached),
    exist: async (objects) => {
      const configs = await Promise.all(objects.map((object) => reader.read(parseStoredKey(configKey(object)))));
      return configs.every((config) => config !== undefined);
    },
    workload: async (before) => {
      const object = await readWithBorrowedTemplate(client, before.row, before, bounds);
      return object && toWorkload(before.row, object, policy);
    },
    legacy: (before) => readLegacy(before, options),
  };
}

/** What it means that a workload's configuration could not be read: nothing was written. Throws `error` where it is a bug. */
export function readFailure(
  error: unknown,
  workload: Workload,
): Extract<WriteFailure, { readonly type: "refused" | "unavailable" }> {
  const cannot = "cannot confirm what its Pods see";
  if (isForbidden(error)) {
    const message = `${cannot}: Wave lacks a permission: give its service account the verb "get" on configmaps, secrets and ${resourceName(workload.row)} in namespace "${workload.namespace}"`;
    return { type: "refused", message };
  }
  const failure = writeFailure(error, workload);
  const { message } = error instanceof Error ? error : { message: failure.type };
  const retryAfterMs = failure.type === "unavailable" ? failure.retryAfterMs : 0;
  return { type: "unavailable", message: `${cannot}: ${message}`, retryAfterMs, uncertain: false };
}
