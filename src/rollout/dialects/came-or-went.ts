import type { Change } from "../changes.ts";
import type { Workload } from "../workload.ts";
import type { DialectSettings } from "./settings.ts";

/**
 * Whether all that changed is that objects came or went for which Stakater's annotations alone ask: that is no reason for a
 * roll there, unless its flags say so. What they show counts from then on, and replaces nobody.
 */
export function merelyCameOrWent(
  { foreign }: Workload,
  changes: readonly Change[],
  settings: DialectSettings | undefined,
): boolean {
  if (settings === undefined || foreign?.dialects.join() !== "stakater") return false;
  const isNoReason = { added: !settings.reloadOnCreate, removed: !settings.reloadOnDelete, changed: false };
  return changes.every(({ how }) => isNoReason[how]);
}
