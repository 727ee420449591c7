import type { Workload } from "../model/workload.ts";
import { parseSignedTime } from "../syntax/time.ts";

/** The digits of the hash that the annotation repeats, and the most characters of the reason. */
const hashDigits = 16;
const maxReason = 400;

/** When Wave started the last rollout of a workload, in milliseconds since the epoch, and why. */
export interface StartedRollout {
  readonly at: number;
  /** One clause, such as `ConfigMap "web" changed (key "page")`. */
  readonly why: string;
}

/** Returns the annotation that records a rollout to a hash: digits of the hash, the time and the reason. `now` is in milliseconds since the epoch. */
export function writeRolledFor(hash: string, now: number, reason: string): string {
  return `${digitsOf(hash)} ${new Date(now).toISOString().slice(0, 19)}Z ${reason.slice(0, maxReason)}`;
}

/** Returns the last rollout of a workload; undefined if Wave did not start it: the annotation is absent, or of another hash. */
export function startedRollout({
  recordedHash,
  rolledFor,
}: Pick<Workload, "recordedHash" | "rolledFor">): StartedRollout | undefined {
  const digits = recordedHash && `${digitsOf(recordedHash)} `;
  if (digits === undefined || digits === "" || !rolledFor?.startsWith(digits)) return undefined;
  const signed = parseSignedTime(rolledFor.slice(digits.length));
  return signed && { at: signed.at, why: signed.by.slice(0, maxReason) };
}

function digitsOf(hash: string): string {
  return hash.slice(hash.indexOf(":") + 1).slice(0, hashDigits);
}
