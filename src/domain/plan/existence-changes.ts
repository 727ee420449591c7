import type { CompatibilitySettings } from "../compatibility/settings.ts";
import type { Change } from "../config/changes.ts";
import type { Workload } from "../model/workload.ts";

/**
 * Whether all that changed is that objects appeared or disappeared which only Stakater's annotations ask for. In that
 * dialect this is no reason for a roll, unless its flags say so: the new state is noted, and no Pod is replaced.
 */
export function merelyCameOrWent(
  { foreign }: Workload,
  changes: readonly Change[],
  settings: CompatibilitySettings | undefined,
): boolean {
  if (settings === undefined || foreign?.compatibility.join() !== "stakater") return false;
  const isNoReason = { added: !settings.reloadOnCreate, removed: !settings.reloadOnDelete, changed: false };
  return changes.every(({ how }) => isNoReason[how]);
}
