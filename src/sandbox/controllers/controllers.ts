import type { Registry } from "../registry.ts";

/** How the controllers behave. */
export interface ControllerOptions {
  readonly workloads: boolean;
  readonly podDelayMs: number;
}

/** Starts the controllers; the returned function stops them. */
export function startControllers(_registry: Registry, _options: ControllerOptions): () => void {
  return () => {};
}
