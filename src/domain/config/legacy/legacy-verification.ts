import type { Workload } from "../../model/workload.ts";
import type { ConfigView } from "../hash.ts";
import { recordedConfigFor, writeRecordedConfig } from "../recorded-config.ts";

/**
 * What was found out about a hash that another controller recorded on a workload. It has the form of a baseline, but is
 * only remembered: nothing is written to the workload until something changes.
 */
export interface LegacyFinding {
  readonly uid: string;
  readonly recordedConfig: string;
  /** Whether the recorded hash stands for what was there then; else nobody knows what it stands for. */
  readonly stood: boolean;
}

/** Stands for no configuration. */
const noHash = `v2:${"0".repeat(64)}`;

/** What is known of a workload whose recorded hash was made again and `stands` for a view, or not. */
export function findingOf({ uid, recordedHash = "" }: Workload, view: ConfigView, stands: boolean): LegacyFinding {
  const { hash, everything } = view;
  const noted = stands ? { hash, everything } : { hash: noHash };
  return { uid, recordedConfig: writeRecordedConfig({ recorded: recordedHash, ...noted }), stood: stands };
}

/** Whether the recorded hash has the form that other controllers write, and no baseline says what it stands for. */
export function needsLegacyVerification({ recordedHash, recordedConfig }: Workload): boolean {
  if (recordedHash === undefined || !/^[0-9a-f]{64}$/.test(recordedHash)) return false;
  return recordedConfigFor(recordedHash, recordedConfig) === undefined;
}

/**
 * The workload to plan with: it has what was found out as its baseline. Patches are made from the workload without it.
 */
export function withFinding(workload: Workload, finding: LegacyFinding | undefined): Workload {
  return isTold(workload, finding) ? { ...workload, recordedConfig: finding.recordedConfig } : workload;
}

/** Whether a finding is about the hash that this workload has recorded, and no baseline is noted for that. */
export function isTold(workload: Workload, finding: LegacyFinding | undefined): finding is LegacyFinding {
  if (finding === undefined || finding.uid !== workload.uid || !needsLegacyVerification(workload)) return false;
  return recordedConfigFor(workload.recordedHash ?? "", finding.recordedConfig) !== undefined;
}
