/**
 * How one run of a key ended, in the manner of controller-runtime's `reconcile.Result`
 * (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/reconcile). {@link Workers} maps each to the queue.
 */
export type Result =
  /** Nothing is left to do until the key is added again. Its failures are forgotten. */
  | { readonly type: "done" }
  /** The run succeeded, and the key runs again after this time. Its failures are forgotten. */
  | { readonly type: "requeueAfter"; readonly delayMs: number }
  /**
   * The run was not due yet. The key runs again after `delayMs`, or when another part of the process adds it, for example
   * with a write permit. Its failures are kept.
   */
  | { readonly type: "deferred"; readonly delayMs?: number }
  /** The run failed and may succeed soon: retried with backoff, after `atLeastMs` at the earliest. */
  | { readonly type: "retry"; readonly atLeastMs?: number; readonly maxMs?: number }
  /** The request was rejected and will be rejected again in most cases: retried with backoff, but slowly. */
  | { readonly type: "rejected" };

/** Nothing is left to do. */
export const done: Result = { type: "done" };
