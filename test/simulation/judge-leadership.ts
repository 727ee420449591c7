import { workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording } from "./record.ts";

/** A holder of the Lease, and the start of its leadership. */
export interface Holding {
  readonly from: number;
  /** The process that wrote the Lease; undefined if the Lease was released. */
  readonly replica: string | undefined;
}

/**
 * Judges leadership: only the process that holds the Lease writes. Each write of a workload, and each deletion of a Pod, was
 * sent while its sender was the last process to take the Lease, even if a `test` of the patch made the write harmless. A write
 * that was sent in time and arrived after the next leader took over is the only risk that ADR 6 accepts.
 * The `test`s of the patch make that write harmless, which the judge of writes checks.
 */
export function judgeTerms({ history, sent }: Recording): readonly string[] {
  const holdings = holdingsOf(history);
  const violations: string[] = [];
  for (const { at, replica, what } of sent) {
    const holder = holdings.findLast(({ from }) => from <= at)?.replica;
    if (holder !== replica) {
      violations.push(`term: ${replica} sent ${what} at ${at} ms, while ${holder ?? "nobody"} held the Lease`);
    }
  }
  for (const entry of history) {
    const { by, resource, at, rv } = entry;
    if (by.actor !== "wave" || !(resource === "pods" || workloadResources.includes(resource))) continue;
    const sentAt = by.sentAt ?? at;
    const holder = holdings.findLast(({ from }) => from <= sentAt)?.replica;
    if (holder === by.replica) continue;
    const { namespace, name } = (entry.after ?? entry.before)?.metadata ?? {};
    const what = `${resource} ${namespace}/${name} at revision ${rv}`;
    violations.push(
      `term: ${by.replica} wrote ${what}, sent at ${sentAt} ms, while ${holder ?? "nobody"} held the Lease`,
    );
  }
  return violations;
}

/** Returns the holders of the Lease, in order. */
export function holdingsOf(history: readonly HistoryEntry[]): readonly Holding[] {
  const holdings: Holding[] = [];
  for (const { resource, after, at, by } of history) {
    if (resource !== "leases" || after === undefined) continue;
    const { holderIdentity } = (after.spec ?? {}) as { readonly holderIdentity?: string | null };
    const replica = holderIdentity ? by.replica : undefined;
    if (holdings.at(-1)?.replica !== replica) holdings.push({ from: at, replica });
  }
  return holdings;
}
