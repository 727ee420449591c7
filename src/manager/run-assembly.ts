import { soleLeadership } from "../runtime/leadership.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import type { Assembly } from "./assemble.ts";
import { startPart } from "./parts.ts";

/** What running an {@link Assembly} needs. */
export interface RunOptions {
  readonly log: Logger;
  /** Aborted when it is to stop. */
  readonly over: AbortSignal;
  /** Told when a part that runs beside the others ends by itself; then aborts `over`. */
  readonly fail: (error: unknown) => void;
  /** What others ask this process through, each as soon as it listens; none in a simulation. */
  readonly endpoints?: AsyncIterable<{ readonly close: () => Promise<void> }>;
}

/**
 * The order of start and stop: endpoints, then connection, keys, caches, webhook, leader election, workers; ends in reverse
 * order, each when the one above it has ended. Rejects with what a step failed with.
 */
export async function runAssembly(assembly: Assembly, options: RunOptions): Promise<void> {
  const { client, connection, hashKeys, caches, webhook, controller, elector } = assembly;
  const { log, over, fail, endpoints = [] } = options;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.close());
  const start = (name: string, run: (signal: AbortSignal) => Promise<void>) => {
    const part = startPart(name, run, fail);
    stack.defer(() => part.stop());
  };
  for await (const endpoint of endpoints) stack.defer(() => endpoint.close());
  try {
    const server = await connection.establish(over);
    log.info("connected to the API server", { server });
    if (hashKeys !== undefined) start("the key of hashes", (signal) => hashKeys.run(signal));
    start("the watch of the cluster", (signal) => caches.run(signal));
    await Promise.all([hashKeys?.whenKnown(over), caches.whenSynced(over)]);
    if (webhook !== undefined) start("the webhook", (signal) => webhook.run(signal));
    if (elector === undefined) await controller.run(soleLeadership(over));
    else await elector.run({ signal: over, lead: (leadership) => controller.run(leadership) });
  } catch (error) {
    if (!over.aborted) throw error; // what a step throws because it was told to stop is how it ends
  }
}
