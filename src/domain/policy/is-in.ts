import type { OptIn } from "../compatibility/opt-in.ts";
import { whyIgnored } from "./filters.ts";
import type { Policy } from "./policy.ts";

/**
 * Whether a workload has still opted in. It was read when its Namespace may have said otherwise, so that is asked again
 * where it counts.
 */
export function isIn(
  { optIn, namespace }: { readonly optIn: OptIn; readonly namespace: string },
  policy: Policy,
): boolean {
  if (optIn.state !== "in" || whyIgnored(namespace, policy) !== undefined) return false;
  return optIn.by !== "namespace" || policy.ofNamespace?.(namespace)?.optsIn === true;
}
