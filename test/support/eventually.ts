import { vi } from "vitest";

/** Waits until `check` holds: as long as a busy machine needs, not a second as vitest does. Only tests import it. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 20 });
}
