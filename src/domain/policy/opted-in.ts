import type { OptIn } from "../compatibility/opt-in.ts";
import { ignoredReason } from "./filters.ts";
import type { Policy } from "./policy.ts";

/**
 * Reports whether a workload is opted in now. The Namespace may have changed since the workload was read, so the function checks the
 * Namespace again.
 */
export function isOptedIn(
  { optIn, namespace }: { readonly optIn: OptIn; readonly namespace: string },
  policy: Policy,
): boolean {
  if (optIn.state !== "in" || ignoredReason(namespace, policy) !== undefined) return false;
  return optIn.by !== "namespace" || policy.namespacePolicy?.optsIn === true;
}
