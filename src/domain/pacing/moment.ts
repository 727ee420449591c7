import type { Hold } from "../decision/hold.ts";
import type { Workload } from "../model/workload.ts";
import type { ConfigName } from "../references/references.ts";

/** What is known of one workload at the moment for which it is planned. Times are milliseconds since the epoch. */
export interface Moment {
  readonly now: number;
  /** When the first and the last change of what it reads were seen that have not settled yet; undefined where none were. */
  readonly changes: { readonly first: number; readonly last: number } | undefined;
  /** What this process wrote of it last; undefined where it wrote nothing, and then what is stored tells. */
  readonly written: Written | undefined;
  /** Since when its rollout stands where it does: since then no new Pod became ready. */
  readonly standsSince: number;
  /**
   * Whether it may start because of changes of these objects, or what holds it: other workloads go first. Undefined
   * where waves are off.
   */
  readonly batch: ((workload: Workload, changed: readonly ConfigName[]) => Hold | undefined) | undefined;
}

/** A write of Wave's to a pod template. */
export interface Written {
  readonly at: number;
  readonly hash: string;
  /** How many rolls in a row came with no quiet time between them, this one counted. */
  readonly streak: number;
  /** How often in a row the same hash was written because something took it away again. */
  readonly reverted: number;
}
