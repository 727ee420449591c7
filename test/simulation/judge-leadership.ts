import { workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording } from "./record.ts";

/** Who held the Lease from when on. */
export interface Holding {
  readonly from: number;
  /** The process that wrote the Lease; undefined: it was given back. */
  readonly replica: string | undefined;
}

/**
 * Only the process that holds the Lease writes: each write of a workload, and each deletion of a Pod, was sent while its
 * sender was the last to have taken the Lease, also where a `test` of the patch made it harmless. What was sent in time and arrived after another had taken over is the one
 * risk that ADR 6 leaves; `test`s of the patch make it harmless, which the judge of writes looks at.
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

/** Who held the Lease, in order. */
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
