import type { StoreChange } from "../../../cache/store/store.ts";
import { type Config, contentChangedAt, hasSameContent } from "../../../domain/config/digest.ts";
import { type Lookup, storedTimeOf } from "../../../domain/config/view-of-references.ts";
import { namespaceOf, type Workload } from "../../../domain/model/workload-shape.ts";
import type { MemberFacts, ObjectChange } from "../../../domain/pacing/batch-member.ts";
import { blockedBy } from "../../../domain/pacing/validator.ts";
import type { NewPods } from "../../../domain/pods/new-pods.ts";
import type { PacingFlags } from "../../../domain/policy/policy.ts";
import { noPolicy } from "../../../domain/policy/policy-rows.ts";
import { isValidator, rulesFor } from "../../../domain/policy/rules.ts";
import { type ConfigName, parseConfigKey } from "../../../domain/references/references.ts";
import { setLatest } from "../../../lib/latest-entries.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { hasCaughtUp, newestOf } from "../freshness/caught-up.ts";
import { knownFailedAlert, progressOf } from "../memory/pacing-memory.ts";
import type { WorkloadMemory } from "../memory/workload-memory.ts";

/** What {@link BatchFacts} need. */
export interface BatchFactsOptions extends LeaderParts<"policy" | "clock", "lookup" | "workload" | "workloadsReading"> {
  readonly flags: PacingFlags;
  readonly memory: (key: string) => WorkloadMemory | undefined;
  readonly newPods: (workload: Workload) => NewPods | undefined;
}

/** Up to this many readers of an object are walked through to find those of one namespace. */
const fewReaders = 64;

/** How long found readers are kept: a workload that is created meanwhile has the hash, or is enqueued by itself. */
const keptMs = 1_000;

/** The number of objects whose last change is remembered, the latest ones. */
const maxSeen = 10_000;

interface SeenChange {
  readonly at: number;
  /** Whether the API has the time, too: an edit that only removes something leaves the times in managedFields unchanged. */
  readonly isDated: boolean;
  /** Whether it was an edit: an object that appears may have been there before. */
  readonly isEdit: boolean;
}

/** The readers of an object, by namespace. */
interface FoundReaders {
  readonly at: number;
  readonly in: ReadonlyMap<string, readonly string[]>;
}

/** What the leader knows for batches: who reads an object, when the object changed, and what the memories show about workloads. */
export class BatchFacts {
  readonly #options: BatchFactsOptions;
  /** When this process began to lead: earlier changes were not rolled by it. In monotonic milliseconds, as all times here. */
  readonly #startedAt: number;
  /** When changes and deletions of objects were seen, the latest last. The API has these times only to the second, or not at all. */
  readonly #seen = new Map<string, SeenChange>();
  /** Whether some of these times were dropped. */
  #forgot = false;
  /** The readers of objects, the oldest first. */
  readonly #readers = new Map<string, FoundReaders>();

  constructor(options: BatchFactsOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
  }

  /**
   * Remembers the change of the content of an object, and reports whether it is one. An annotation is none: it would end a halt of content that has
   * failed.
   */
  configChanged(change: StoreChange<Config>): boolean {
    const { key, before, after } = change;
    if (before && after && before.rotated === after.rotated && hasSameContent(before, after)) return false;
    const at = this.#options.clock.monotonic();
    const seen = { at, isDated: storedTimeOf(change) !== undefined, isEdit: before !== undefined };
    if (setLatest(this.#seen, key, seen, maxSeen) !== undefined) this.#forgot = true;
    return true;
  }

  changeOf(config: string): ObjectChange {
    const object = parseConfigKey(config);
    const stored = this.#options.caches.lookup(object.kind, object.namespace, object.name);
    const seen = this.#seen.get(config);
    const known = seen?.at ?? (this.#forgot ? undefined : this.#startedAt);
    const storedAt = seen?.isDated === false ? undefined : contentChangedAt(stored);
    const changedAt = storedAt === undefined ? this.#onWall(seen?.at ?? this.#startedAt) : storedAt * 1000;
    const seenAt = known === undefined ? undefined : this.#onWall(known);
    return { object, changedAt, seenAt, isSeen: seen?.isEdit === true };
  }

  /**
   * Returns the keys of the workloads of a namespace that read an object. A thousand namespaces may share one object with ten readers each: all
   * ten thousand are walked through at most once a second.
   */
  readersIn(namespace: string, config: string): readonly string[] {
    const { clock, caches } = this.#options;
    const now = clock.monotonic();
    const known = this.#readers.get(config);
    if (known !== undefined && now < known.at + keptMs) return known.in.get(namespace) ?? [];
    // The oldest come first: an object is removed before it is added again.
    this.#readers.delete(config);
    for (const [key, { at }] of this.#readers) {
      if (now < at + keptMs) break;
      this.#readers.delete(key);
    }
    const found = { at: now, in: Map.groupBy(caches.workloadsReading(config), namespaceOf) };
    this.#readers.set(config, found);
    return found.in.get(namespace) ?? [];
  }

  /** Reports whether other workloads of a namespace than the canary read an object. */
  hasFollowers(namespace: string, config: string): boolean {
    const { caches } = this.#options;
    let [here, everywhere] = [0, 0];
    for (const key of caches.workloadsReading(config)) {
      if (namespaceOf(key) === namespace && ++here > 1) return true;
      if (++everywhere > fewReaders) return this.readersIn(namespace, config).length > 1;
    }
    return false;
  }

  /** Reports whether the cache of an object has other content than `lookup`. An object that is not cached, or without its keys, stays so. */
  isBehind(object: ConfigName, lookup: Lookup): boolean {
    const { kind, namespace, name } = object;
    const cached = this.#options.caches.lookup(kind, namespace, name);
    if (cached === undefined || cached.limitExceeded !== undefined || kind === "SecretProviderClass") return false;
    const planned = lookup(kind, namespace, name);
    return planned !== cached && (planned === undefined || !hasSameContent(cached, planned));
  }

  /** Returns the lookup of what is known about the workloads of a namespace at this moment. */
  membersIn(namespace: string): (key: string) => MemberFacts | undefined {
    const { caches, clock, policy, memory: memoryOf, newPods } = this.#options;
    const ofNamespace = rulesFor({ namespace, policy: noPolicy }, policy);
    const now = clock.monotonic();
    return (key) => {
      const cached = caches.workload(key);
      if (cached === undefined || cached.deleting || cached.optIn.state !== "in") return undefined;
      // What its expressions match is not needed.
      const rules = cached.policy === noPolicy ? ofNamespace : rulesFor({ namespace, policy: cached.policy }, policy);
      if (!rules.batches.value) return undefined;
      const memory = memoryOf(key);
      const workload = memory === undefined ? cached : newestOf(memory.findings, cached, now);
      // A validator is not passed over because a read of it failed.
      const mustBePlanned = hasRequestedRun(memory, now) || (memory?.state === "due" && isValidator(cached));
      return {
        key,
        workload,
        rules,
        mustBePlanned,
        isCurrent: !mustBePlanned && memory?.state === "current",
        ...this.#known(memory, workload),
        newPods: newPods(workload),
      };
    };
  }

  /** Returns what the memory of a workload shows. A new process has no memory of earlier writes. */
  #known(memory: WorkloadMemory | undefined, workload: Workload) {
    const { hold, findings } = memory ?? {};
    const { progress, lastWrite } = findings ?? {};
    const current = findings && progressOf(findings, workload);
    const isNewer = findings !== undefined && (hold?.isByTimes === true || hasCaughtUp(findings, workload));
    return {
      held: hold && { reason: hold.reason, changed: hold.changed && (isNewer ? hold.changed : noObjects) },
      blocked: memory && blockedIn(memory),
      lastWrite: lastWrite?.uid === workload.uid ? { ...lastWrite, at: this.#onWall(lastWrite.at) } : undefined,
      completeSince: progress?.step === "complete" ? this.#onWall(progress.since) : undefined,
      // Its time of the API may be long ago by this clock. So a rollout that was never planned does not fail by time.
      advancedAt: this.#onWall(current?.advancedAt ?? this.#options.clock.monotonic()),
      completeMs: current?.completeMs ?? 0,
      failedAlert: findings && knownFailedAlert(findings, workload),
    };
  }

  /** Not stored as wall-clock time: a clock that is set back would make later writes older than the change. */
  #onWall(at: number): number {
    const { clock } = this.#options;
    return clock.wall() - (clock.monotonic() - at);
  }
}

const noObjects: ReadonlySet<string> = new Set();

/** Returns why Wave cannot roll a workload; undefined if Wave can. */
function blockedIn({ state }: WorkloadMemory): string | undefined {
  return state === "waiting" ? blockedBy.missing : state === "refused" ? blockedBy.refused : undefined;
}

/** Reports whether a run was requested since the last one, or the configuration of the workload has just settled. */
function hasRequestedRun(memory: WorkloadMemory | undefined, now: number): boolean {
  if (memory === undefined || memory.requestedRuns > memory.finishedRuns) return true;
  return (
    memory.hold?.reason === "settling" && memory.hold.untilMonotonic !== undefined && memory.hold.untilMonotonic <= now
  );
}
