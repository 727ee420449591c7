/** Something that happens once and that many wait for. */
export class SyncGate {
  readonly #opened = Promise.withResolvers<void>();
  #isOpen = false;

  /** Whether it happened. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Lets all pass who wait and all who come. */
  open(): void {
    this.#isOpen = true;
    this.#opened.resolve();
  }

  /** Resolves when the gate is open; rejects with the signal's reason when that is aborted before. */
  async opened(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([this.#opened.promise, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
