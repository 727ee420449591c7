import { type LegacyRead, readLegacy } from "../cache/legacy-reads.ts";
import { readWithLentTemplate } from "../cache/lent-template.ts";
import { lookupLive, readConfig } from "../cache/live-configs.ts";
import { sharedReads } from "../cache/shared-reads.ts";
import type { ApiClient } from "../kube/client.ts";
import { isForbidden } from "../kube/errors.ts";
import { objectsGranted } from "../rollout/cross-namespace.ts";
import type { Config } from "../rollout/digest.ts";
import type { Lookup } from "../rollout/plan.ts";
import type { Policy } from "../rollout/policy/policy.ts";
import { type ConfigName, configKey, parseStoredKey } from "../rollout/references.ts";
import { toWorkload, type Workload } from "../rollout/workload.ts";
import { resourceName } from "../rollout/workload-row.ts";
import { type WriteFailure, writeFailure } from "./write-failure.ts";

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
/** How many objects are read at once for one workload. */
const atOnce = 4;

/** Each object is read once for all who ask for it at the same time. `signal` ends all reads. */
export function createLiveReads(options: {
  readonly client: Pick<ApiClient, "request">;
  readonly policy: Policy;
  readonly cached: Lookup;
  readonly signal: AbortSignal;
}): LiveReads {
  const { client, policy, cached, signal } = options;
  const read = sharedReads((key) => readConfig(client, parseStoredKey(key), timeoutMs, signal, policy.dialects));

  return {
    lookup: async (workload) => {
      const found = new Map<string, Config | undefined>();
      const left = objectsGranted(workload, cached, policy).map(configKey);
      const readOn = async () => {
        try {
          for (let key = left.pop(); key !== undefined; key = left.pop()) found.set(key, await read(key));
        } catch (error) {
          left.length = 0; // nobody waits for the others any more
          throw error;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, readOn));
      return lookupLive(found, cached);
    },
    exist: async (objects) => {
      const configs = await Promise.all(objects.map((object) => read(configKey(object))));
      return configs.every((config) => config !== undefined);
    },
    workload: async (before) => {
      const object = await readWithLentTemplate(client, before.row, before, { timeoutMs, signal });
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
