import { holdingsOf } from "./judge-leadership.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { hasOutgrownCopies } from "./model-pins.ts";
import { NamespaceTimeline, saidOf } from "./model-policy.ts";
import { type WaveWrite, waveWriteOf } from "./model-rolls.ts";
import { namedBy, readHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording } from "./record.ts";

/** Without faults, a replica observes a change within this time. */
const knownMs = 300;
/** After a gap of the API server, a replica observes all changes within this time. */
const knownAfterGapMs = 5_000;
/** By the fastest clock, a wait is over after this share of its true duration. */
const drift = 0.96;

/**
 * Judges the settle time: without faults, a rollout starts no sooner after the last change of what its workload reads than
 * the settle time, or after the first change than the maximum wait. Changes during faults, and before the leader began to lead, are not judged.
 */
export function judgeSettling(run: Recording): readonly string[] {
  const { pacing } = run.settings;
  if (pacing === undefined) return [];
  const timeline = new ConfigTimeline(run.history);
  const namespaces = new NamespaceTimeline(run.history);
  const holdings = holdingsOf(run.history);
  const times = new Map(run.history.map(({ rv, at }) => [rv, at]));
  /** The last time at which any client set the hash of each workload. */
  const setAt = new Map<string, number>();
  const violations: string[] = [];
  for (const entry of run.history) {
    const write = waveWriteOf(entry, run);
    if (write?.kind === "roll" && write.sentAt > run.calmAt + 30_000) violations.push(...judge(write));
    note(entry);
  }
  return violations;

  function judge(write: WaveWrite): readonly string[] {
    const { sentAt, before, what } = write;
    if (pacing === undefined || hasOutgrownCopies(write, run)) return [];
    const ledFrom = holdings.findLast(({ from }) => from <= sentAt)?.from ?? 0;
    const from = Math.max(ledFrom, setAt.get(before.metadata.uid) ?? sentAt);
    const changes = changesOf(before, from, sentAt - knownMs);
    const [first] = changes;
    const last = changes.at(-1);
    if (first === undefined || last === undefined) return [];
    const states = namespaces.between(before.metadata.namespace, sentAt - 15_000, sentAt);
    const waits = states.map((namespace) => {
      const { settleMs } = saidOf(before, namespace, pacing);
      return Math.min(last + drift * settleMs, first + drift * 10 * settleMs);
    });
    if (sentAt >= Math.min(...waits) - 5) return [];
    return [`settling: ${what}: it rolled ${sentAt - last} ms after what it reads had changed`];
  }

  /** Returns the times, between two moments, at which something changed that the workload reads, except while its Pods wait. */
  function changesOf(workload: WaveWrite["before"], from: number, to: number): readonly number[] {
    const named = namedBy(workload, run.settings);
    const isWaiting = (rv: number) =>
      named.some(({ key, partOf }) => partOf(timeline.versions(key)[timeline.at(key, rv)]?.object).missing);
    const found = named.flatMap(({ key, partOf }) => {
      const versions = timeline.versions(key);
      return versions.flatMap(({ rv, object }, index) => {
        const at = times.get(rv);
        if (index === 0 || at === undefined || at <= from || at > to) return [];
        if (run.gapsAt?.some((gapAt) => at >= gapAt && at < gapAt + knownAfterGapMs)) return [];
        // Objects that Pods may be waiting for do not settle, however late their change arrives; nor do changes that make Pods wait.
        if (versions[index - 1]?.object === undefined || isWaiting(rv - 1) || isWaiting(rv)) return [];
        return partOf(object).bytes.equals(partOf(versions[index - 1]?.object).bytes) ? [] : [at];
      });
    });
    return found.sort((a, b) => a - b);
  }

  function note({ resource, at, before, after }: HistoryEntry): void {
    if (!workloadResources.includes(resource) || after === undefined) return;
    if (readHash(before) !== readHash(after)) setAt.set(after.metadata.uid, at);
  }
}
