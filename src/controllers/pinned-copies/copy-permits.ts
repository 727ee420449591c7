import type { Clock } from "../../lib/clock.ts";
import type { TokenBucket } from "../../runtime/token-bucket.ts";
import { WritePermits } from "../../runtime/write-permits.ts";

/** Write permits for sweeps, round-robin by namespace. A sweep waits for its permit, because it would have to read everything again. */
export class CopyPermits {
  readonly #permits: WritePermits;
  readonly #granted = new Map<string, () => void>();
  #closed = false;

  constructor({ clock, tokens }: { readonly clock: Clock; readonly tokens: TokenBucket }) {
    this.#permits = new WritePermits({
      clock,
      tokens,
      flowOf: (namespace) => namespace,
      onGranted: (namespace) => {
        const granted = this.#granted.get(namespace);
        this.#granted.delete(namespace);
        granted?.();
      },
    });
  }

  /** Resolves to true with a permit for one write, or to false after `close`. A namespace takes one permit at a time. */
  async take(namespace: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#granted.set(namespace, resolve);
    if (!this.#closed && !this.#permits.take(namespace, "low")) {
      await promise;
      if (!this.#permits.take(namespace, "low")) return false;
    }
    this.#granted.delete(namespace);
    return !this.#closed;
  }

  /** Ends all waits. */
  close(): void {
    this.#closed = true;
    this.#permits.close();
    for (const granted of this.#granted.values()) granted();
    this.#granted.clear();
  }
}
