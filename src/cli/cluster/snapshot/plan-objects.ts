import { objectsToRead } from "../../../domain/config/cross-namespace.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import { parsePins } from "../../../domain/pinning/pins.ts";
import type { ConfigName } from "../../../domain/references/references.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { policyOf } from "../running-wave/known-policy.ts";

/**
 * Returns the objects that the plan of a workload depends on: what it references, and its pinned copies if content of its ConfigMaps
 * was rolled back.
 */
export function planObjects(workload: Workload, policy: KnownPolicy): readonly ConfigName[] {
  const objects = objectsToRead(workload, policyOf(workload, policy));
  const { namespace, rejected, pinned } = workload;
  const pins = rejected === undefined || pinned === undefined ? undefined : parsePins(pinned);
  if (pins === undefined) return objects;
  return [...objects, ...Array.from(pins.values(), (name) => ({ kind: "ConfigMap", namespace, name }) as const)];
}
