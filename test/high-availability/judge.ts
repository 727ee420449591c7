import { type AuditEvent, readAuditLog } from "../control-plane/control-plane.ts";

/** One request in the audit log of the API server, with the time of its response. */
export interface TimedAuditEvent extends AuditEvent {
  readonly stageTimestamp: string;
}

/** A period in which one process of Wave held the Lease. */
export interface HeldTerm {
  readonly process: string;
  /** The time at which the API server received the write that took the Lease. */
  readonly from: number;
}

/** The result of a run from the audit log. Times in milliseconds since the epoch, with fractions. */
export interface Judgement {
  readonly terms: readonly HeldTerm[];
  /** Writes of a workload that were answered after another process had taken the Lease. */
  readonly late: readonly string[];
  /** Writes of a workload that were answered after another process, in a later leadership, had begun to write. */
  readonly twoWriters: readonly string[];
  /** The number of successful writes of a configuration on each workload, by "resource/name". Notes of a state do not count. */
  readonly writes: ReadonlyMap<string, number>;
}

const workloads = ["deployments", "statefulsets", "daemonsets"];
const changing = ["create", "update", "patch"];

/**
 * Judges the processes of Wave in `namespace` only by the audit log. A process is identified by the identity in its
 * user agent. A leadership begins with its first successful write of the Lease after a write of another process.
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
  for (const { objectRef, process, from, stageTimestamp, requestObject } of rollouts) {
    const target = `${objectRef?.resource}/${objectRef?.name}`;
    if (recordsConfig(requestObject)) counts.set(target, (counts.get(target) ?? 0) + 1);
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

/** Reports whether a patch writes what Pods read. */
function recordsConfig(patch: unknown): boolean {
  return /wave\.pusher\.com(~1|\/)(config-hash|recorded-config)/.test(JSON.stringify(patch));
}

/** Returns the lines of the audit log. The API server writes with a delay: send a request first and wait until it is in the log. */
export function readTimedAuditLog(path: string): TimedAuditEvent[] {
  return readAuditLog(path) as TimedAuditEvent[];
}

/** Parses a time of the audit log, which has microseconds. */
function ms(time: string): number {
  const [seconds = "", fraction = "0"] = time.replace("Z", "").split(".");
  return Date.parse(`${seconds}Z`) + Number(`0.${fraction}`) * 1_000;
}
