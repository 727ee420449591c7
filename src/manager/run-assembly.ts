import { soleLeadership } from "../runtime/write-permits.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import type { Assembly } from "./assemble.ts";

/**
 * Starts the parts in this order and runs until `signal`: metrics and probes, connection to the API server, hash keys, caches,
 * webhook, leader election, controller. Stops them in reverse order, each after the next one has ended. Rejects with the error of
 * the part that failed.
 */
export async function runAssembly(
  assembly: Assembly,
  options: {
    readonly log: Logger;
    /** Aborted to stop all parts. */
    readonly signal: AbortSignal;
    /** Called when a part ends by itself. It must abort `signal`. */
    readonly onFailure: (error: unknown) => void;
    /** Servers of metrics and probes, each as soon as it listens. Default: none, as in the simulation. */
    readonly endpoints?: AsyncIterable<{ readonly close: () => Promise<void> }>;
  },
): Promise<void> {
  const { client, connection, hashKeys, caches, webhook, controller, elector } = assembly;
  const { log, signal, onFailure, endpoints = [] } = options;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.close());
  const start = (name: string, run: (stop: AbortSignal) => Promise<void>) => {
    const part = startRunnable(name, run, onFailure);
    stack.defer(() => part.stop());
  };
  for await (const endpoint of endpoints) stack.defer(() => endpoint.close());
  try {
    const server = await connection.establish(signal);
    log.info("connected to the API server", { server });
    if (hashKeys !== undefined) start("the hash key", (stop) => hashKeys.run(stop));
    start("the caches", (stop) => caches.run(stop));
    await Promise.all([hashKeys?.whenKnown(signal), caches.whenSynced(signal)]);
    if (webhook !== undefined) start("the webhook", (stop) => webhook.run(stop));
    if (elector === undefined) await controller.run(soleLeadership(signal));
    else await elector.run({ signal, lead: (leadership) => controller.run(leadership) });
  } catch (error) {
    if (!signal.aborted) throw error; // an error after the signal is the end, not a failure
  }
}

/** A part of the process that runs until it is stopped. */
export type Runnable = ReturnType<typeof startRunnable>;

/** Starts a part. Calls `onFailure` once if the part ends before `stop`: with its error, or with an error that names the part. */
export function startRunnable(
  name: string,
  run: (signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
) {
  const stopping = new AbortController();
  const end = (error: unknown) => {
    // After `stop`, this is the end of the part, not a failure.
    if (!stopping.signal.aborted) onFailure(error);
  };
  const ended = run(stopping.signal).then(() => end(new Error(`${name} ended unexpectedly`)), end);
  return {
    /** Stops the part and resolves when it has ended. Never rejects: a failure was reported when it happened. */
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}
