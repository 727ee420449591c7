import type { Caches } from "../../../cache/caches.ts";
import type { StoreChange } from "../../../cache/store/store.ts";
import type { Config } from "../../../domain/config/digest.ts";
import { namespaceOf } from "../../../domain/model/workload.ts";
import type { Moment } from "../../../domain/pacing/moment.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { type ConfigName, configKey } from "../../../domain/references/references.ts";
import { isDnsSubdomain } from "../../../domain/syntax/dns-name.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Outcome } from "../record/outcome.ts";
import type { ChangeTimes } from "./batch-members.ts";
import { BatchReaders } from "./batch-readers.ts";
import { NamespaceBatches, type NamespaceBatchesOptions } from "./namespace-batches.ts";

/** What a {@link WaveLine} works with. */
export interface BatchQueueOptions extends Pick<NamespaceBatchesOptions, "record" | "onChange" | "onHalted"> {
  readonly clock: Clock;
  readonly caches: Pick<Caches, "lookup" | "workload" | "workloadsReading">;
  readonly policy: Policy;
  readonly flags: PacingFlags;
}

/** The line, undefined where waves are off. */
export function batchQueue(
  { clock, caches, policy }: Pick<BatchQueueOptions, "clock" | "caches" | "policy">,
  rest: Pick<BatchQueueOptions, "record" | "onChange" | "onHalted">,
): BatchQueue | undefined {
  const flags = policy.pacing;
  if (flags === undefined || flags.maxConcurrent === 0) return undefined;
  return new BatchQueue({ clock, caches, policy, flags, ...rest });
}

/** One run of the reconciler, as the line sees it. */
export interface BatchRun {
  /** As {@link Moment.wave}: whether it may go, asked as often as it is planned. */
  readonly holdOf: NonNullable<Moment["batch"]>;
  /** To be told how it ended. */
  readonly ended: (outcome: Outcome | "bug") => void;
}

/** So many are gone through to find who of them is of one namespace. */
const fewReaders = 64;

/** Of how many objects it is remembered when they were seen to change, the last ones. */
const mostSeen = 10_000;

/** When an object was seen to change. */
interface SeenChange {
  readonly at: number;
  /** Whether the API tells when, too: an edit that only takes something away leaves the times in managedFields as they are. */
  readonly isDated: boolean;
}

/**
 * Where a workload lines up that is held only by others with the same change. No worker waits and nothing is polled: a
 * workload that is due says so when it is planned, is looked at when something happens that may let it go, and is then
 * planned again. Each namespace has a line of its own.
 */
export class BatchQueue {
  readonly #options: BatchQueueOptions;
  readonly #namespaces = new Map<string, NamespaceBatches>();
  readonly #readers: BatchReaders;
  /** Of what was gone before, nothing was rolled by this line. On the monotonic clock, as are all times here. */
  readonly #begun: number;
  /** When objects were seen to change, or to be gone, the last ones last: no time of the API's tells that as exactly, or at all. */
  readonly #seen = new Map<string, SeenChange>();
  /** Whether some of that is forgotten. */
  #forgot = false;

  constructor(options: BatchQueueOptions) {
    this.#options = options;
    this.#begun = options.clock.monotonic();
    this.#readers = new BatchReaders(options.clock, options.caches.workloadsReading);
  }

  /** How many changes are halted, each counted for each namespace. */
  get halted(): number {
    return this.#namespaces.values().reduce((sum, { halted }) => sum + halted, 0);
  }

  /** A workload is about to be planned. */
  planned(key: string): BatchRun {
    const namespace = namespaceOf(key);
    let asked: readonly string[] = [];
    return {
      holdOf: (_, changed) => {
        // What no object can be called has not changed, and nobody's text is to become a path.
        const objects = changed.filter(({ name }) => isDnsSubdomain(name));
        asked = objects.map(configKey).filter((config) => this.#concernsMany(namespace, config));
        return asked.length === 0 ? undefined : this.#in(namespace).holdOf(key, asked);
      },
      ended: (outcome) => this.#ended(key, asked, outcome),
    };
  }

  /** An object changed. */
  configChanged({ key, before, after }: StoreChange<Config>): void {
    const isDated = after?.changedAt !== undefined && after.changedAt > (before?.changedAt ?? 0);
    this.#seen.delete(key);
    this.#seen.set(key, { at: this.#options.clock.monotonic(), isDated });
    const oldest = this.#seen.size > mostSeen ? this.#seen.keys().next().value : undefined;
    if (oldest === undefined) return;
    this.#seen.delete(oldest);
    this.#forgot = true;
  }

  /** Nobody is let go any more. */
  close(): void {
    for (const batches of this.#namespaces.values()) batches.close();
    this.#namespaces.clear();
  }

  #ended(key: string, asked: readonly string[], outcome: Outcome | "bug"): void {
    const namespace = namespaceOf(key);
    const isDue = outcome !== "bug" && outcome.type === "settled" && isHeldByBatch(outcome.plan);
    if (isDue) this.#in(namespace).due(key, asked);
    const batches = this.#namespaces.get(namespace);
    if (batches === undefined) return;
    if (!isDue && !triesAgain(outcome)) batches.leave(key);
    const workload = this.#options.caches.workload(key);
    // What its regular expressions name is not known here.
    if (workload === undefined || workload.foreign?.patterns.length) batches.touchAll();
    else batches.touch([...workload.references.map(configKey), ...batches.haltedBy(key)]);
    if (batches.isOver) this.#over(namespace, batches);
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

  #over(namespace: string, batches: NamespaceBatches): void {
    batches.close();
    this.#namespaces.delete(namespace);
  }

  #changeOf(object: ConfigName): ChangeTimes {
    const config = this.#options.caches.lookup(object.kind, object.namespace, object.name);
    const { clock } = this.#options;
    // Not noted as a time of day: a clock that is put back would make what was written since older than the change.
    const onWall = (at: number) => clock.wall() - (clock.monotonic() - at);
    const seen = this.#seen.get(configKey(object));
    const known = seen?.at ?? (this.#forgot ? undefined : this.#begun);
    const isDated = config?.changedAt !== undefined && seen?.isDated !== false;
    const changedAt = isDated ? config.changedAt * 1000 : onWall(seen?.at ?? this.#begun);
    return { changedAt, seenAt: known === undefined ? undefined : onWall(known) };
  }

  /** Whether more workloads of a namespace read an object than the first wave has. */
  #concernsMany(namespace: string, config: string): boolean {
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

/** Whether what may be written is still to be, and soon. */
function triesAgain(outcome: Outcome | "bug"): boolean {
  return outcome !== "bug" && ["paced", "conflict", "unavailable", "stopped"].includes(outcome.type);
}
