import type { Workload } from "../../model/workload.ts";
import type { ConfigView } from "../hash.ts";
import { recordedConfigFor, writeRecordedConfig } from "../recorded-config.ts";

/**
 * The result of verifying a hash that another controller recorded on a workload. It has the form of a recorded configuration,
 * but Wave keeps it in memory: nothing is written to the workload until its configuration changes.
 */
export interface LegacyVerification {
  readonly uid: string;
  readonly recordedConfig: string;
  /** Whether the recorded hash matched the configuration at that time. Otherwise its configuration is unknown. */
  readonly isCurrent: boolean;
}

/** A hash that no configuration has. */
const noConfiguration = `v2:${"0".repeat(64)}`;

/** Returns the verification of a recorded hash that was recomputed. `isCurrent`: the recomputed hash was equal, for this view. */
export function legacyVerificationOf(
  { uid, recordedHash = "" }: Workload,
  { hash, fullHash }: ConfigView,
  isCurrent: boolean,
): LegacyVerification {
  const config = isCurrent ? { hash, fullHash } : { hash: noConfiguration };
  return { uid, recordedConfig: writeRecordedConfig({ recorded: recordedHash, ...config }), isCurrent };
}

/** Reports whether the recorded hash has the format of other controllers, and no recorded configuration belongs to it. */
export function needsLegacyVerification({ recordedHash, recordedConfig }: Workload): boolean {
  if (recordedHash === undefined || !/^[0-9a-f]{64}$/.test(recordedHash)) return false;
  return recordedConfigFor(recordedHash, recordedConfig) === undefined;
}

/** Reports whether a verification is of the hash that this workload has recorded. */
export function isVerified(
  workload: Workload,
  verification: LegacyVerification | undefined,
): verification is LegacyVerification {
  if (verification === undefined || verification.uid !== workload.uid) return false;
  if (!needsLegacyVerification(workload)) return false;
  return recordedConfigFor(workload.recordedHash ?? "", verification.recordedConfig) !== undefined;
}

/**
 * Returns the workload as the plan reads it: with the verified configuration as its recorded configuration. Only the plan uses
 * it. Patches are made from the workload as it is stored.
 */
export function withLegacyVerification(workload: Workload, verification: LegacyVerification | undefined): Workload {
  return isVerified(workload, verification) ? { ...workload, recordedConfig: verification.recordedConfig } : workload;
}
