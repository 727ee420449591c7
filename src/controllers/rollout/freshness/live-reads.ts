import { type LegacyRead, readLegacy } from "../../../cache/live/legacy-reads.ts";
import type { ListedConfigs } from "../../../cache/live/listed-configs.ts";
import { liveLookup } from "../../../cache/live/live-configs.ts";
import { createLiveReader } from "../../../cache/live/live-reader.ts";
import { readWithBorrowedTemplate } from "../../../cache/workloads/workload-reads.ts";
import type { Config } from "../../../domain/config/digest.ts";
import { grantedObjects } from "../../../domain/config/tracked-references.ts";
import { resourceName } from "../../../domain/model/kind-row.ts";
import { toWorkload, type Workload } from "../../../domain/model/workload.ts";
import { pinsBeforeRollout } from "../../../domain/pinning/pin-request.ts";
import { uncachedCopies } from "../../../domain/pinning/pinned-lookup.ts";
import type { Lookup } from "../../../domain/plan/plan.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/policy.ts";
import { type ConfigName, configKey, parseStoredKey } from "../../../domain/references/references.ts";
import { isForbidden } from "../../../kube/api/api-failure.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type WriteFailure, writeFailure } from "../apply/write-failure.ts";
import { refusedTexts, retriedTexts } from "../report/event-texts.ts";

/** Reads from the API server, for workloads whose caches may be behind. Rejects with the errors of requests. */
export interface LiveReads {
  /**
   * Reads the references of a workload. In another namespace, only objects that are shared with it by the caches. Also reads the copies in
   * these annotations that the caches do not have yet. Default: in the pins of the workload, and those before its last rollout.
   */
  readonly lookup: (workload: Workload, pinned?: readonly (string | undefined)[]) => Promise<Lookup>;
  /**
   * Finds the references of a workload without a recorded hash, each as it was after the last write of the workload: by lists,
   * if many such workloads need objects of one namespace, and otherwise by reads. Returns the lookup of the caches if lists show that the
   * caches have all of them.
   */
  readonly firstLookup: (workload: Workload) => Promise<Lookup>;
  /** Reports whether all of these objects exist. */
  readonly exist: (objects: readonly ConfigName[]) => Promise<boolean>;
  /** Returns the workload as it is now; undefined if it is gone. */
  readonly workload: (before: Workload) => Promise<Workload | undefined>;
  /** Returns the workload, its configuration, and the hash that another controller would record; undefined if it is gone. */
  readonly legacy: (before: Workload) => Promise<LegacyRead | undefined>;
}

/** The time limit of one read, in milliseconds. */
const timeoutMs = 10_000;
/** Maximum number of concurrent reads for one workload. */
const concurrency = 4;

/** Returns the live reads. Concurrent reads of one object share one request. `signal` ends all reads. */
export function createLiveReads(options: {
  readonly client: Pick<ApiClient, "request">;
  readonly policy: ClusterPolicy;
  readonly cached: Lookup;
  /** Default: no lists. */
  readonly listed?: ListedConfigs;
  readonly signal: AbortSignal;
}): LiveReads {
  const { client, policy, cached, listed, signal } = options;
  const bounds = { timeoutMs, signal };
  const reader = createLiveReader({ client, compatibility: policy.compatibility, bounds, concurrency });

  const objectsOf = (
    workload: Workload,
    pinned: readonly (string | undefined)[] = [workload.pinned, pinsBeforeRollout(workload)],
  ) => {
    const copies = policy.pinConfig ? uncachedCopies(workload, pinned, cached) : [];
    return [...grantedObjects(workload, cached, policyFor(workload, policy)), ...copies];
  };

  return {
    lookup: async (workload, pinned) => liveLookup(await reader.readAll(objectsOf(workload, pinned)), cached),
    firstLookup: async (workload) => {
      const objects = objectsOf(workload);
      const confirmed = (await listed?.confirmed(workload, objects)) ?? new Map<string, Config>();
      const others = objects.filter((object) => !confirmed.has(configKey(object)));
      if (others.length === 0) return cached;
      const found = await reader.readAll(others);
      return liveLookup(new Map([...found, ...confirmed]), cached);
    },
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

/** Returns what a failed read of the configuration means: nothing was written. Throws `error` itself if it is a bug. */
export function readFailure(
  error: unknown,
  workload: Workload,
): Extract<WriteFailure, { readonly type: "refused" | "unavailable" }> {
  if (isForbidden(error)) {
    const { row, namespace } = workload;
    return { type: "refused", message: refusedTexts.forbiddenToRead(resourceName(row), namespace) };
  }
  const failure = writeFailure(error, workload);
  const { message } = error instanceof Error ? error : { message: failure.type };
  const retryAfterMs = failure.type === "unavailable" ? failure.retryAfterMs : 0;
  return { type: "unavailable", message: retriedTexts.unconfirmed(message), retryAfterMs, uncertain: false };
}
