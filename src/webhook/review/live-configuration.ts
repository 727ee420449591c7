import { lookupLive, readConfig } from "../../cache/live/live-configs.ts";
import { sharedReads } from "../../cache/live/shared-reads.ts";
import { objectsGranted } from "../../domain/config/cross-namespace.ts";
import type { Config } from "../../domain/config/digest.ts";
import type { Workload } from "../../domain/model/workload.ts";
import type { Lookup } from "../../domain/plan/plan.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { type ConfigName, configKey, parseStoredKey } from "../../domain/references/references.ts";
import { ApiError, ConnectionError, isForbidden } from "../../kube/api/errors.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { maxObjects, readingMs, readsAtOnce } from "../server/admission-limits.ts";
import { FairTurns } from "./fair-turns.ts";

/** Why the configuration of a workload is not known: one line for the person at the keyboard, `cause` for the log. */
export class UnreadError extends Error {
  override readonly name = "UnreadError";
}

/** Finds what a workload references as it is stored at this moment. Throws {@link UnreadError}. */
export type LiveConfiguration = (workload: Workload) => Promise<Lookup>;

/** What reading takes. */
export interface LiveConfigurationOptions {
  readonly client: ApiClient;
  readonly policy: Policy;
  /** What is granted to whom, as the caches have it. */
  readonly cached: Lookup;
  readonly clock: Clock;
}

/**
 * Reads from the API server and not from the caches, which can be a moment behind a client that creates a ConfigMap and
 * then its Deployment. Nothing of another namespace is read that was not granted, as the caches know it: else whoever may
 * create a workload, or only try to, could make Wave read whatever they name, and see by the time that it takes what exists.
 */
export function liveConfiguration({ client, policy, cached, clock }: LiveConfigurationOptions): LiveConfiguration {
  const permits = new FairTurns(readsAtOnce);
  // By who asks, too: nobody waits in the turns of another namespace.
  const read = sharedReads<Config | undefined>((asked) => {
    const [by = "", key = ""] = asked.split(" ");
    const until = clock.monotonic() + readingMs;
    return permits.run(by, async () => {
      // Who asked has been answered: else what nobody waits for any more would pile up before a slow API server.
      if (clock.monotonic() >= until) throw tookTooLong();
      return readConfig(client, parseStoredKey(key), readTimeoutMs, undefined, policy.compatibility);
    });
  });

  return async (workload) => {
    const by = workload.namespace;
    const objects = objectsGranted(workload, cached, policy);
    if (objects.length > maxObjects) {
      throw new UnreadError(`it references ${objects.length} objects, and admission reads ${maxObjects} at most`);
    }
    const reads = objects.map((object) =>
      read(`${by} ${configKey(object)}`).catch((cause: unknown) => {
        throw new UnreadError(inOwnWords(cause, object), { cause });
      }),
    );
    const configs = await inTime(Promise.all(reads), clock);
    const found = new Map(objects.map((object, index) => [configKey(object), configs[index]]));
    return lookupLive(found, cached);
  };
}

function tookTooLong(): UnreadError {
  return new UnreadError("reading took too long");
}

/** Of one read, from when it begins. */
const readTimeoutMs = 1000;

/** The API server's words may tell of what the person may not know, such as Wave's account and where it runs. */
function inOwnWords(error: unknown, { kind, namespace }: ConfigName): string {
  if (isForbidden(error)) return `Wave may not read ${kind}s in namespace "${namespace}"`;
  if (error instanceof ConnectionError) return "the API server did not answer Wave in time";
  if (error instanceof ApiError) return `the API server could not tell Wave of a ${kind}`;
  return `a ${kind} could not be understood; see Wave's log`;
}

function inTime<T>(reading: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(readingMs, () => reject(tookTooLong()));
    reading.then(resolve, reject).finally(cancel);
  });
}
