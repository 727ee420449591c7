import { baselineFor, writeBaseline } from "../baseline.ts";
import type { ConfigView } from "../hash.ts";
import type { Workload } from "../workload.ts";

/**
 * What was found out about the hash that another controller recorded on a workload: a baseline as it would be noted, but
 * that is remembered only, so that nothing is written until something changes.
 */
export interface LegacyFinding {
  readonly uid: string;
  readonly baseline: string;
  /** Whether the recorded hash stands for what was there then; else nobody knows what it stands for. */
  readonly stood: boolean;
}

/** Stands for no configuration. */
const noHash = `v2:${"0".repeat(64)}`;

/** What is known of a workload whose recorded hash was made again and `stands` for a view, or not. */
export function findingOf({ uid, recordedHash = "" }: Workload, view: ConfigView, stands: boolean): LegacyFinding {
  const { hash, everything } = view;
  const noted = stands ? { hash, everything } : { hash: noHash };
  return { uid, baseline: writeBaseline({ recorded: recordedHash, ...noted }), stood: stands };
}

/** Whether its recorded hash is of the form that other controllers write, and nothing is noted that stands for it. */
export function isUntold({ recordedHash, baseline }: Workload): boolean {
  if (recordedHash === undefined || !/^[0-9a-f]{64}$/.test(recordedHash)) return false;
  return baselineFor(recordedHash, baseline) === undefined;
}

/** The workload as it is to be planned: with what was found out about its recorded hash. Patches are for the other one. */
export function withFinding(workload: Workload, finding: LegacyFinding | undefined): Workload {
  return isTold(workload, finding) ? { ...workload, baseline: finding.baseline } : workload;
}

/** Whether a finding is about the hash that is recorded on a workload, which nothing else is noted for. */
export function isTold(workload: Workload, finding: LegacyFinding | undefined): finding is LegacyFinding {
  if (finding === undefined || finding.uid !== workload.uid || !isUntold(workload)) return false;
  return baselineFor(workload.recordedHash ?? "", finding.baseline) !== undefined;
}
