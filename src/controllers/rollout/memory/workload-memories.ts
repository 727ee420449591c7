import { parseWorkloadKey } from "../../../domain/model/workload-shape.ts";
import type { Judged } from "../../../domain/plan/verdict.ts";
import { sharedString } from "../../../domain/syntax/json.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { newMemory, type WorkloadMemory } from "./workload-memory.ts";

/** The memories of all workloads that were ever enqueued, by key, while this process leads. */
export class WorkloadMemories extends Map<string, WorkloadMemory> {
  /** Returns the memory of a workload. Makes one if there is none. */
  of(key: string): WorkloadMemory {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = newMemory();
    this.set(sharedString(key), made);
    return made;
  }
}

/** A lost connection is detected within 6 s, by its pings. Events of a working one arrive within milliseconds. */
const watchLagMs = 10_000;

/**
 * The most namespaces with a time of their own: the Lease must stay small. If more have changes that cannot be published, for example because a
 * policy rejects writes, the time of all others is that of the oldest one that is left.
 */
const maxExceptions = 50;

/** More watched namespaces have no times. */
const maxNamespaces = 1_000;

/** Returns up to when every change is judged, and its verdict is published. `memories`: those of all workloads, by key. */
export function judgedNow(
  memories: Iterable<readonly [key: string, memory: Pick<WorkloadMemory, "unpublishedSince">]>,
  { policy, caches, clock }: LeaderParts<"policy" | "clock", "undecided" | "lostSince">,
): Judged {
  const { namespaces } = policy;
  const now = clock.monotonic();
  const wall = clock.wall();
  const since = new Map<string, number>();
  for (const [key, { unpublishedSince }] of memories) {
    if (unpublishedSince === undefined) continue;
    const { namespace } = parseWorkloadKey(key);
    since.set(namespace, Math.min(unpublishedSince, since.get(namespace) ?? Number.POSITIVE_INFINITY));
  }
  for (const namespace of caches.undecided()) since.set(namespace, Number.NEGATIVE_INFINITY);
  const seen = Math.min(now, caches.lostSince() ?? now);
  const onWall = (at: number) => {
    const time = Math.min(at, seen);
    return time === Number.NEGATIVE_INFINITY ? undefined : wall - (now - time) - watchLagMs;
  };
  if (namespaces !== undefined) {
    const known = namespaces.length > maxNamespaces ? [] : namespaces;
    return { upTo: undefined, except: new Map(known.map((each) => [each, onWall(since.get(each) ?? seen)])) };
  }
  const oldestFirst = [...since].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const [next] = oldestFirst.slice(maxExceptions);
  return {
    upTo: onWall(next?.[1] ?? seen),
    except: new Map(oldestFirst.slice(0, maxExceptions).map(([namespace, at]) => [namespace, onWall(at)])),
  };
}
