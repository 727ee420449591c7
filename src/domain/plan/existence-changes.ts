import type { CompatibilitySettings } from "../compatibility/settings.ts";
import type { Change } from "../config/changes.ts";
import type { Workload } from "../model/workload.ts";

/**
 * Reports whether all changes are additions or removals of objects that only annotations of Stakater Reloader name. Reloader
 * does not roll for these unless its flags say so. Then the new state is recorded, and no Pod is replaced.
 */
export function onlyExistenceChanged(
  { peer }: Workload,
  changes: readonly Change[],
  settings: CompatibilitySettings | undefined,
): boolean {
  if (settings === undefined || peer?.compatibility.join() !== "stakater") return false;
  const isIgnored = { added: !settings.reloadOnCreate, removed: !settings.reloadOnDelete, changed: false };
  return changes.every(({ how }) => isIgnored[how]);
}
