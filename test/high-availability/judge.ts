import { type AuditEvent, readAuditLog } from "../control-plane/control-plane.ts";

/** One request as the API server's audit log tells it, with when it was answered. */
export interface TimedAuditEvent extends AuditEvent {
  readonly stageTimestamp: string;
}

/** One time in which one process of Wave held the Lease. */
export interface HeldTerm {
  readonly process: string;
  /** When the write that took the Lease was received. */
  readonly from: number;
}

/** What the audit log says about a run. Times in milliseconds since the epoch, with fractions. */
export interface Judgement {
  readonly terms: readonly HeldTerm[];
  /** Writes of a workload that were answered after another process had taken the Lease. */
  readonly late: readonly string[];
  /** Writes of a workload that were answered after another process, in a later term, had begun to write. */
  readonly twoWriters: readonly string[];
  /** How many writes of each workload succeeded, by "resource/name". */
  readonly writes: ReadonlyMap<string, number>;
}

const workloads = ["deployments", "statefulsets", "daemonsets"];
const changing = ["create", "update", "patch"];

/**
 * Judges the processes of Wave in `namespace` by nothing but the audit log. A process is known by the identity in its
 * user agent; a term begins with its first successful write of the Lease after another's.
 */
export function judge(events: readonly TimedAuditEvent[], namespace: string): Judgement {
  const writes = events
    .filter(({ verb, objectRef }) => objectRef?.namespace === namespace && changing.includes(verb))
    .filter(({ responseStatus }) => (responseStatus?.code ?? 500) < 300)
    .flatMap((event) => {
      const process = event.userAgent?.match(/^wave\/.*; ([^)]+)\)/)?.[1];
      return process === undefined ? [] : [{ ...event, process, from: ms(event.requestReceivedTimestamp) }];
    })
    .toSorted((a, b) => a.from - b.from);

  const terms: HeldTerm[] = [];
  for (const { objectRef, process, from } of writes) {
    if (objectRef?.resource === "leases" && terms.at(-1)?.process !== process) terms.push({ process, from });
  }
  const rollouts = writes.filter(({ objectRef }) => workloads.includes(objectRef?.resource ?? ""));
  const late: string[] = [];
  const twoWriters: string[] = [];
  const counts = new Map<string, number>();
  for (const { objectRef, process, from, stageTimestamp } of rollouts) {
    const target = `${objectRef?.resource}/${objectRef?.name}`;
    counts.set(target, (counts.get(target) ?? 0) + 1);
    const answered = ms(stageTimestamp);
    const own = terms.findLastIndex((term) => term.process === process && term.from <= from);
    if (own === -1) {
      twoWriters.push(`${target} by ${process}, which never held the Lease`);
      continue;
    }
    const later = terms.slice(own + 1).filter((term) => term.process !== process && term.from < answered);
    const line = `${target} by ${process} answered at ${stageTimestamp}`;
    if (later.length > 0) late.push(line);
    if (
      later.some((term) => rollouts.some((w) => w.process === term.process && w.from >= term.from && w.from < answered))
    ) {
      twoWriters.push(line);
    }
  }
  return { terms, late, twoWriters, writes: counts };
}

/** The audit log's lines; the API server writes a moment late, so ask for something first and wait until it is there. */
export function readTimedAuditLog(path: string): TimedAuditEvent[] {
  return readAuditLog(path) as TimedAuditEvent[];
}

/** A time of the audit log, in microseconds there. */
function ms(time: string): number {
  const [seconds = "", fraction = "0"] = time.replace("Z", "").split(".");
  return Date.parse(`${seconds}Z`) + Number(`0.${fraction}`) * 1_000;
}
