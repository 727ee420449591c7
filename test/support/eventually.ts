import { vi } from "vitest";

/** Waits until `check` passes, for as long as a busy machine needs: vitest waits only one second. For tests only. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 20 });
}
