import type { Caches } from "../../../cache/caches.ts";
import type { StoreChange } from "../../../cache/store/store.ts";
import { type Config, hasSameContent } from "../../../domain/config/digest.ts";
import { storedTimeOf } from "../../../domain/config/stored-time.ts";
import type { Lookup } from "../../../domain/config/view-of-references.ts";
import { namespaceOf } from "../../../domain/model/workload.ts";
import type { Hold } from "../../../domain/outcomes/hold.ts";
import type { ChangeTimes } from "../../../domain/pacing/batch-member.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import type { ClusterPolicy } from "../../../domain/policy/cluster-policy.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import { type ConfigName, configKey } from "../../../domain/references/references.ts";
import { isDnsSubdomain } from "../../../domain/syntax/dns-name.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { ReconcileOutcome } from "../record/outcome.ts";
import { BatchReaders } from "./batch-readers.ts";
import { NamespaceBatches, type NamespaceBatchesOptions } from "./namespace-batches.ts";

/** What a {@link BatchQueue} needs. */
export interface BatchQueueOptions
  extends Pick<NamespaceBatchesOptions, "record" | "restarts" | "onChange" | "onCanary" | "onHalted"> {
  readonly clock: Clock;
  readonly caches: Pick<Caches, "lookup" | "workload" | "workloadsReading">;
  readonly policy: ClusterPolicy;
  readonly flags: PacingFlags;
}

/** Returns the queue of batches; undefined if batches are off. */
export function createBatchQueue(
  { clock, caches, policy }: Pick<BatchQueueOptions, "clock" | "caches" | "policy">,
  rest: Pick<BatchQueueOptions, "record" | "restarts" | "onChange" | "onCanary" | "onHalted">,
): BatchQueue | undefined {
  const flags = policy.pacing;
  if (flags === undefined || flags.maxConcurrent === 0) return undefined;
  return new BatchQueue({ clock, caches, policy, flags, ...rest });
}

/** One run of the reconciler, for the batches. */
export interface BatchRun {
  /** Returns the hold of the batches of these changes; undefined if all admit the workload. Called for each plan of the run, with its lookup. */
  readonly holdOf: (changed: readonly ConfigName[], lookup: Lookup) => Hold | undefined;
  /** Reports whether the last plan is for content that the caches do not have yet: the batches do not know this change. */
  readonly isBehind: () => boolean;
  /** Receives how the run ended. */
  readonly ended: (outcome: ReconcileOutcome | "bug") => void;
}

/** Up to this many readers of an object are walked through to find those of one namespace. */
const fewReaders = 64;

/** The number of objects whose last change is remembered, the latest ones. */
const maxSeen = 10_000;

/** When an object was seen to change. */
interface SeenChange {
  readonly at: number;
  /** Whether the API has the time, too: an edit that only removes something leaves the times in managedFields unchanged. */
  readonly isDated: boolean;
}

/**
 * The queue of workloads that are held only by batches. No worker waits, and nothing is polled: a due workload is added
 * when it is planned, computed again when an event may admit it, and then enqueued. Each namespace has its own batches.
 */
export class BatchQueue {
  readonly #options: BatchQueueOptions;
  readonly #namespaces = new Map<string, NamespaceBatches>();
  readonly #readers: BatchReaders;
  /** When this queue started: earlier changes were not rolled by it. In monotonic milliseconds, as all times here. */
  readonly #startedAt: number;
  /** When changes and deletions of objects were seen, the latest last. The API has these times only to the second, or not at all. */
  readonly #seen = new Map<string, SeenChange>();
  /** Whether some of these times were dropped. */
  #forgot = false;

  constructor(options: BatchQueueOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
    this.#readers = new BatchReaders(options.clock, options.caches.workloadsReading);
  }

  /** The number of halted changes, each one per namespace. */
  get halted(): number {
    return this.#namespaces.values().reduce((sum, { halted }) => sum + halted, 0);
  }

  /** Starts a run of a workload. */
  startRun(key: string): BatchRun {
    const namespace = namespaceOf(key);
    let changedKeys: readonly string[] = [];
    let isBehind = false;
    return {
      holdOf: (changed, lookup) => {
        // A text that no object can have as its name has not changed, and must not become part of a path.
        const objects = changed.filter(
          (object) => isDnsSubdomain(object.name) && this.#hasFollowers(namespace, configKey(object)),
        );
        changedKeys = objects.map(configKey);
        isBehind = objects.some((object) => this.#isBehind(object, lookup));
        return changedKeys.length === 0 ? undefined : this.#in(namespace).holdOf(key, changedKeys);
      },
      isBehind: () => isBehind,
      ended: (outcome) => this.#ended(key, changedKeys, outcome),
    };
  }

  /** Records the change of an object. */
  configChanged(change: StoreChange<Config>): void {
    const { key } = change;
    this.#seen.delete(key);
    this.#seen.set(key, { at: this.#options.clock.monotonic(), isDated: storedTimeOf(change) !== undefined });
    const oldest = this.#seen.size > maxSeen ? this.#seen.keys().next().value : undefined;
    if (oldest === undefined) return;
    this.#seen.delete(oldest);
    this.#forgot = true;
  }

  /** Stops: no workload is admitted any more. */
  close(): void {
    for (const batches of this.#namespaces.values()) batches.close();
    this.#namespaces.clear();
  }

  #ended(key: string, changedKeys: readonly string[], outcome: ReconcileOutcome | "bug"): void {
    const namespace = namespaceOf(key);
    const isDue = outcome !== "bug" && outcome.type === "done" && isHeldByBatch(outcome.plan);
    if (isDue) this.#in(namespace).due(key, changedKeys);
    const batches = this.#namespaces.get(namespace);
    const isRolled = outcome !== "bug" && outcome.type === "written" && outcome.plan.outcome === "roll";
    // If no other workload waits for the change, this one is its canary.
    if (isRolled && (changedKeys.length === 0 || batches?.rollsCanary(changedKeys))) this.#options.onCanary(key);
    if (batches === undefined) return;
    if (!isDue && !isRetriedSoon(outcome)) batches.leave(key);
    const workload = this.#options.caches.workload(key);
    // The objects that match its regular expressions are not known here.
    if (workload === undefined || workload.peer?.patterns.length) batches.touchAll();
    else batches.touch([...workload.references.map(configKey), ...batches.haltedBy(key)]);
    if (batches.isIdle) this.#remove(namespace, batches);
  }

  #in(namespace: string): NamespaceBatches {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const readers = (inNamespace: string, config: string) => this.#readers.in(inNamespace, config);
    const changeOf = (object: ConfigName) => this.#changeOf(object);
    const made = new NamespaceBatches(namespace, { ...this.#options, readers, changeOf });
    this.#namespaces.set(namespace, made);
    return made;
  }

  #remove(namespace: string, batches: NamespaceBatches): void {
    batches.close();
    this.#namespaces.delete(namespace);
  }

  #changeOf(object: ConfigName): ChangeTimes {
    const config = this.#options.caches.lookup(object.kind, object.namespace, object.name);
    const { clock } = this.#options;
    // Not stored as wall-clock time: a clock that is set back would make later writes older than the change.
    const onWall = (at: number) => clock.wall() - (clock.monotonic() - at);
    const seen = this.#seen.get(configKey(object));
    const known = seen?.at ?? (this.#forgot ? undefined : this.#startedAt);
    const isDated = config?.changedAt !== undefined && seen?.isDated !== false;
    const changedAt = isDated ? config.changedAt * 1000 : onWall(seen?.at ?? this.#startedAt);
    return { changedAt, seenAt: known === undefined ? undefined : onWall(known) };
  }

  /** Reports whether the cache of an object has other content than `lookup`. An object that is not cached, or without its keys, stays so. */
  #isBehind({ kind, namespace, name }: ConfigName, lookup: Lookup): boolean {
    const cached = this.#options.caches.lookup(kind, namespace, name);
    if (cached === undefined || cached.limitExceeded !== undefined || kind === "SecretProviderClass") return false;
    const planned = lookup(kind, namespace, name);
    return planned !== cached && (planned === undefined || !hasSameContent(cached, planned));
  }

  /** Reports whether more workloads of a namespace read an object than the canary has. */
  #hasFollowers(namespace: string, config: string): boolean {
    const { caches, flags } = this.#options;
    let [here, everywhere] = [0, 0];
    for (const key of caches.workloadsReading(config)) {
      if (namespaceOf(key) === namespace && ++here > flags.canarySize) return true;
      if (++everywhere > fewReaders) return this.#readers.in(namespace, config).length > flags.canarySize;
    }
    return false;
  }
}

function isHeldByBatch(plan: RolloutPlan): boolean {
  return plan.outcome === "held" && (plan.hold.reason === "batch" || plan.hold.reason === "halted");
}

/** Reports whether an admitted write is retried soon. */
function isRetriedSoon(outcome: ReconcileOutcome | "bug"): boolean {
  return outcome !== "bug" && ["permitPending", "conflict", "unavailable", "stopped"].includes(outcome.type);
}
