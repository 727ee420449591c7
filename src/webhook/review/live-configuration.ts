import { liveLookup, readStoredConfig } from "../../cache/live/live-configs.ts";
import { sharedReads } from "../../cache/live/shared-reads.ts";
import { grantedObjects } from "../../domain/config/tracked-references.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { uncachedCopies } from "../../domain/pinning/pinned-lookup.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { type ConfigName, configKey, parseStoredKey } from "../../domain/references/references.ts";
import { ApiError, apiFailureOf, ConnectionError } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { maxConcurrentReads, maxObjectsPerReview, readsTimeoutMs } from "../server/review-reader.ts";

/** Reads the configuration of workloads. */
export type LiveConfiguration = ReturnType<typeof liveConfiguration>;

/**
 * Reads from the API server instead of the caches, because these can be stale when a client creates a ConfigMap and then its
 * Deployment. Reads no object of another namespace without a grant in the caches. Otherwise anyone who may create a workload, or
 * only tries to, could make Wave read any object, and learn from the response time whether it exists.
 */
export function liveConfiguration({
  client,
  policy,
  cached,
  clock,
}: {
  readonly client: ApiClient;
  readonly policy: Policy;
  /** Looks up cross-namespace grants in the caches. */
  readonly cached: Lookup;
  readonly clock: Clock;
}) {
  const permits = new FairSemaphore(maxConcurrentReads);
  const read = sharedReads((flowAndKey) => {
    // A reference that the API server has not validated may contain a blank.
    const [flow = "", ...parts] = flowAndKey.split(" ");
    const object = parseStoredKey(parts.join(" "));
    const until = clock.monotonic() + readsTimeoutMs;
    return permits.run(flow, async () => {
      // The review has ended. Without this check obsolete reads would queue up for a slow API server.
      if (clock.monotonic() >= until) throw readsTimedOut();
      return readStoredConfig(client, object, { timeoutMs: readTimeoutMs }, policy.compatibility);
    });
  });

  /**
   * Reads the objects that a workload references as they are stored now, and the copies in these annotations of pins that the caches do
   * not have yet. `others` are other forms that the workload may get.
   * @throws Error with one line for the sender of the request, and `cause` for the log.
   */
  return async (
    workload: Workload,
    pinned: readonly (string | undefined)[] = [],
    others: readonly Workload[] = [],
  ): Promise<Lookup> => {
    const ofForms = [workload, ...others].flatMap((form) => grantedObjects(form, cached, rulesFor(form, policy)));
    const referenced = [...new Map(ofForms.map((object) => [configKey(object), object])).values()];
    if (referenced.length > maxObjectsPerReview) {
      throw new Error(
        `the workload references ${referenced.length} objects, and the webhook reads at most ${maxObjectsPerReview}`,
      );
    }
    const copies = uncachedCopies(workload, pinned, cached);
    const objects = [...referenced, ...copies.slice(0, maxObjectsPerReview)];
    const reads = objects.map((object) =>
      // The flow is the namespace of the workload, so that no read waits in the queue of another namespace.
      read(`${workload.namespace} ${configKey(object)}`).catch((cause: unknown) => {
        throw new Error(unreadReason(cause, object), { cause });
      }),
    );
    const configs = await withReadsTimeout(Promise.all(reads), clock);
    const found = new Map(objects.map((object, index) => [configKey(object), configs[index]]));
    return liveLookup(found, cached);
  };
}

function readsTimedOut(): Error {
  return new Error("the ConfigMaps and Secrets could not be read in time");
}

/** Timeout of one read, from its start, in milliseconds. */
const readTimeoutMs = 1000;

/** Returns the reason without the API server's text, which can contain facts that the sender must not see, such as Wave's account. */
function unreadReason(error: unknown, { kind, namespace }: ConfigName): string {
  const failure = apiFailureOf(error);
  if (failure?.type === "forbidden")
    return `Wave does not have permission to read ${kind}s in namespace "${namespace}"`;
  if (failure?.error instanceof ConnectionError) return "the API server did not answer Wave in time";
  if (failure?.error instanceof ApiError) return `the API server could not return a ${kind} to Wave`;
  return `a ${kind} could not be read; see Wave's log`;
}

function withReadsTimeout<T>(reading: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(readsTimeoutMs, () => reject(readsTimedOut()));
    reading.then(resolve, reject).finally(cancel);
  });
}

/** Limits the number of concurrent tasks. Waiting tasks start round-robin by group, so a group with many tasks delays only itself. */
export class FairSemaphore {
  readonly #limit: number;
  #running = 0;
  /** Waiting tasks by group. The first group is next. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs the task when a place is free, and settles like the task. */
  async run<T>(group: string, task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++;
    else await this.#wait(group);
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  #wait(group: string): Promise<void> {
    return new Promise((start) => {
      const waiting = this.#waiting.get(group);
      if (waiting) waiting.push(start);
      else this.#waiting.set(group, [start]);
    });
  }

  #release(): void {
    const [group, waiting] = this.#waiting.entries().next().value ?? ["", []];
    const start = waiting.shift();
    if (start === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(group);
    if (waiting.length > 0) this.#waiting.set(group, waiting);
    start();
  }
}
