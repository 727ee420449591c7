/** A condition that becomes true once, such as "synced", and that many callers can wait for. */
export class SyncGate {
  readonly #opened = Promise.withResolvers<void>();
  #isOpen = false;

  /** Reports whether the gate is open. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opens the gate for all current and later callers. */
  open(): void {
    this.#isOpen = true;
    this.#opened.resolve();
  }

  /** Resolves when the gate is open. Rejects with the signal's reason if the signal is aborted first. */
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
