// Reads one cluster again and again, as `wave list` does, and publishes its rows. Watches only decide what is read again, and when.
import { isForbidden } from "../../kube/api/api-failure.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import { mapBounded } from "../cluster/requests.ts";
import { readWorkloadSnapshots, type WorkloadSnapshots } from "../cluster/snapshot/read-one.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { reportFailure } from "../command/command.ts";
import { type ChangeRow, changeRows } from "./change-rows.ts";
import { type ClusterWatches, readWaveStatus, type WaveStatus, watchCluster } from "./cluster-watches.ts";
import { EditLog } from "./edit-log.ts";
import type { ClusterHeader, Id, Task, WorkloadRow } from "./model.ts";
import type { ModelStream } from "./model-stream.ts";
import { taskRows } from "./task-rows.ts";
import type { UiCall } from "./ui-flags.ts";
import {
  clusterId,
  type ExplainedWorkload,
  explainRow,
  isRowIn,
  type RowContext,
  workloadRow,
} from "./workload-rows.ts";

interface FeedOptions {
  readonly call: UiCall;
  readonly cluster: Cluster;
  readonly context: string;
  /** See {@link RowContext}. */
  readonly contextFlag: string;
  readonly stream: ModelStream;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Several changes within this time are one reading, in milliseconds. */
const debounceMs = 50;
/** Minimum time between two readings, in milliseconds. */
const minPauseMs = 100;
/** How many times as long as a reading of everything the pause after it is. */
const pausePerReading = 4;
/** Time between two readings of leader and policy, in milliseconds. */
const statusMs = 5_000;
/** Time between two readings of everything if all watches work, and if one does not, in milliseconds. */
const everythingMs = { watched: 60_000, unwatched: 5_000 };
/** The most namespaces that are read one by one. More are read by lists of all namespaces. */
const mostNamespaces = 16;
/** How many workloads are explained before other work gets its turn. */
const explainedAtOnce = 100;
/** Time between two attempts while the cluster is lost, in milliseconds. */
const retryMs = { first: 500, most: 10_000 };
/** Maximum wait for the first lists of the watches, in milliseconds. */
const firstSyncMs = 5_000;

/** Follows one cluster until the signal is aborted. Rejects only for a bug. */
export class ClusterFeed {
  readonly options: FeedOptions;
  readonly #id: Id;
  readonly #row: RowContext;
  readonly #edits = new EditLog();
  #header: ClusterHeader;
  #status: WaveStatus | undefined;
  #statusAt = Number.NEGATIVE_INFINITY;
  #watches: ClusterWatches | undefined;
  /** The namespaces that changed. */
  #dirty = new Set<string>();
  /** When everything is read again, and when that may happen at the earliest, in monotonic milliseconds. */
  #everythingAt = Number.NEGATIVE_INFINITY;
  #everythingNotBefore = Number.NEGATIVE_INFINITY;
  /** Whether the first reading goes from namespace to namespace, so that its first rows show at once. */
  #firstPass: "due" | "running" | "over" = "due";
  /** When time alone may change rows of a namespace, in milliseconds since the epoch. */
  #dueAt = new Map<string, number>();
  /** The namespaces whose workloads read objects of others, by the namespace of the object. */
  #readersOf = new Map<string, Set<string>>();
  #wake: () => void = () => {};
  readonly #shown = Promise.withResolvers<void>();

  constructor(options: FeedOptions) {
    this.options = options;
    const { context, contextFlag } = options;
    this.#id = clusterId(context);
    this.#row = { cluster: this.#id, contextFlag };
    this.#header = {
      id: this.#id,
      context,
      connection: { state: "connecting", error: null },
      readAt: null,
      leader: null,
      standbys: 0,
      webhook: "unknown",
      notifications: "unknown",
      doctor: null,
      hold: null,
      notes: [],
    };
    this.#publishHeader({});
  }

  /** The policy of the running Wave; undefined before the first reading. */
  get policy(): WaveStatus["policy"] | undefined {
    return this.#status?.policy;
  }

  /** Resolves when all rows are shown, or the cluster is lost, or the signal is aborted: other reads would delay the first rows. */
  get shown(): Promise<void> {
    return this.#shown.promise;
  }

  /** Shows what `wave doctor` found. */
  showDiagnosis(diagnosis: Pick<ClusterHeader, "doctor" | "webhook">): void {
    this.#publishHeader(diagnosis);
  }

  /** Reads and publishes until the signal is aborted. */
  async run(): Promise<void> {
    const { clock, signal } = this.options;
    let failures = 0;
    signal.addEventListener("abort", () => this.#shown.resolve(), { once: true });
    signal.addEventListener("abort", () => this.#wake(), { once: true });
    while (!signal.aborted) {
      let pauseMs = minPauseMs;
      try {
        pauseMs = Math.max(pauseMs, await this.#readDue());
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        this.#lost(error);
        pauseMs = Math.min(retryMs.most, retryMs.first * 2 ** failures++);
      }
      await sleep(clock, pauseMs, signal).catch(() => {});
      if (failures === 0) await this.#untilDue();
    }
  }

  /** Resolves when something must be read. */
  async #untilDue(): Promise<void> {
    const { clock, signal } = this.options;
    if (this.#dirty.size === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const waitMs = Math.min(
        this.#statusAt + statusMs - clock.monotonic(),
        Math.max(this.#everythingAt, this.#everythingNotBefore) - clock.monotonic(),
        ...this.#dueAt.values().map((at) => at - clock.wall()),
      );
      const cancel = clock.timer(Math.max(0, waitMs), resolve);
      if (!signal.aborted) await promise;
      cancel();
    }
    if (this.#dirty.size > 0) await sleep(clock, debounceMs, signal).catch(() => {});
  }

  /** Remembers that a namespace changed; undefined: any namespace. */
  #mark(namespace: string | undefined): void {
    if (namespace === undefined) this.#everythingAt = Number.NEGATIVE_INFINITY;
    else {
      this.#dirty.add(namespace);
      for (const reader of this.#readersOf.get(namespace) ?? []) this.#dirty.add(reader);
    }
    this.#wake();
  }

  /** Reads what is due. Returns how long to wait before the next reading, in milliseconds: the longer, the more this one cost. */
  async #readDue(): Promise<number> {
    const { clock } = this.options;
    if (clock.monotonic() - this.#statusAt >= statusMs) await this.#readStatus();
    const now = clock.wall();
    for (const [namespace, at] of this.#dueAt) if (at <= now) this.#mark(namespace);
    const from = clock.monotonic();
    if (this.#firstPass === "due") this.#beginFirstPass();
    const wantsAll = from >= this.#everythingAt || this.#dirty.size > mostNamespaces;
    if (wantsAll && from >= this.#everythingNotBefore) {
      await this.#readEverything();
      const tookMs = clock.monotonic() - from;
      const watched = this.#watches?.areComplete() ? everythingMs.watched : everythingMs.unwatched;
      // Otherwise a watch has requested another reading meanwhile.
      if (this.#everythingAt === Number.POSITIVE_INFINITY) this.#everythingAt = clock.monotonic() + watched;
      this.#everythingNotBefore = clock.monotonic() + pausePerReading * tookMs;
      return 0;
    }
    const some = [...this.#dirty].slice(0, mostNamespaces);
    if (some.length > 0) await this.#readNamespaces(some);
    if (this.#firstPass === "running" && this.#dirty.size > 0) return 0;
    this.#firstPass = "over";
    this.#connected(some.length === 0 ? {} : { readAt: now });
    return clock.monotonic() - from;
  }

  /** Lets the first reading go from namespace to namespace if there are many. */
  #beginFirstPass(): void {
    const namespaces = this.#watches?.namespaces();
    this.#firstPass = "over";
    if (namespaces === undefined || namespaces.size <= mostNamespaces) return;
    this.#firstPass = "running";
    for (const each of namespaces) this.#dirty.add(each);
    this.#everythingAt = this.options.clock.monotonic() + everythingMs.watched;
    this.#everythingNotBefore = this.#everythingAt;
  }

  async #readStatus(): Promise<void> {
    const { cluster, call, clock, signal } = this.options;
    const { namespace } = call.values;
    const status = await readWaveStatus(cluster, call, clock.wall());
    if (this.#status?.policyVersion !== status.policyVersion) this.#mark(undefined);
    this.#status = status;
    this.#statusAt = clock.monotonic();
    if (this.#watches === undefined) {
      this.#watches = watchCluster({
        client: cluster.client,
        namespace,
        kinds: status.policy.kinds,
        onChange: (changed) => {
          if (changed !== undefined && this.#status?.namespaces.has(changed.namespace))
            this.#statusAt = Number.NEGATIVE_INFINITY;
          this.#mark(changed?.namespace);
        },
        clock,
        signal,
      });
      await this.#watches.settled(firstSyncMs);
    }
    const { leader, standbys, notifications, hold, notes } = status;
    this.#publishHeader({ leader, standbys, notifications, hold, notes });
  }

  async #readEverything(): Promise<void> {
    const { call, clock } = this.options;
    this.#everythingAt = Number.POSITIVE_INFINITY;
    this.#dirty.clear();
    try {
      await this.#publish(await this.#read(call.values.namespace), "all");
    } catch (error) {
      this.#mark(undefined);
      throw error;
    }
    this.#connected({ readAt: clock.wall() });
  }

  async #readNamespaces(namespaces: readonly string[]): Promise<void> {
    for (const each of namespaces) this.#dirty.delete(each);
    try {
      await mapBounded(namespaces, async (each) => this.#publish(await this.#read(each), new Set([each])));
    } catch (error) {
      for (const each of namespaces) this.#dirty.add(each);
      throw error;
    }
  }

  #read(namespace: string | undefined): Promise<WorkloadSnapshots> {
    const policy = this.#status?.policy;
    if (policy === undefined) throw new Error("nothing is read before the policy");
    return readWorkloadSnapshots(this.options.cluster, namespace, undefined, policy);
  }

  /** Publishes a reading of some namespaces: the first rows at once, the rest as it is explained. */
  async #publish(read: WorkloadSnapshots, namespaces: ReadonlySet<string> | "all"): Promise<void> {
    const { stream } = this.options;
    const { snapshots, batches, failures, gaps } = read;
    const [first] = snapshots;
    if (first !== undefined) this.#edits.take(first.read);
    const explained: ExplainedWorkload[] = [];
    const rows: WorkloadRow[] = [];
    for (let start = 0; start < snapshots.length; start += explainedAtOnce) {
      const some = snapshots.slice(start, start + explainedAtOnce).map((each) => explainRow(each, this.#id));
      const own = some.map((each) => workloadRow(each, this.#row));
      explained.push(...some);
      rows.push(...own);
      if (snapshots.length > explainedAtOnce) {
        stream.publish({ workloads: { rows: own, replaces: () => false } });
        await new Promise(setImmediate);
      }
    }
    const groups = [...Map.groupBy(explained, ({ explanation }) => explanation.workload.namespace)];
    const changes: ChangeRow[] = [];
    const tasks: Task[] = [];
    for (const [namespace, workloads] of groups) {
      const [{ snapshot }] = workloads as [ExplainedWorkload];
      const { now, policy } = snapshot;
      const facts = { namespace, workloads, batches, edits: this.#edits, flags: policy.pacing, now };
      changes.push(...changeRows(facts, this.#row));
      tasks.push(...taskRows(workloads, this.#edits, this.#row));
    }
    // A workload of a kind that could not be listed is not gone.
    const replaces = (id: Id) => failures.length === 0 && isRowIn(id, this.#id, namespaces);
    stream.publish({
      workloads: { rows, replaces },
      changes: { rows: changes.map(({ change }) => change), replaces },
      tasks: { rows: tasks, replaces },
    });
    this.#rememberTimes(explained, changes, namespaces);
    this.#rememberReaders(explained);
    const notes = [...(this.#status?.notes ?? []), ...failures, ...gaps];
    if (namespaces === "all" || notes.length > 0) this.#publishHeader({ notes: [...new Set(notes)] });
  }

  /** Remembers when time alone may change rows. */
  #rememberTimes(
    workloads: readonly ExplainedWorkload[],
    changes: readonly ChangeRow[],
    namespaces: ReadonlySet<string> | "all",
  ): void {
    if (namespaces === "all") this.#dueAt.clear();
    else for (const each of namespaces) this.#dueAt.delete(each);
    const now = this.options.clock.wall();
    const add = (namespace: string, at: number | undefined) => {
      if (at === undefined) return;
      // A time that has just passed changes nothing any more.
      const next = Math.max(at, now + 1_000);
      this.#dueAt.set(namespace, Math.min(next, this.#dueAt.get(namespace) ?? next));
    };
    for (const { explanation } of workloads)
      if (explanation.hold?.until) add(explanation.workload.namespace, Date.parse(explanation.hold.until));
    for (const { change, nextCheckAt } of changes) add(change.namespace, nextCheckAt);
  }

  #rememberReaders(workloads: readonly ExplainedWorkload[]): void {
    for (const { snapshot } of workloads) {
      const { namespace, references } = snapshot.found.workload;
      for (const object of references) {
        if (object.namespace === namespace) continue;
        const readers = this.#readersOf.get(object.namespace) ?? new Set();
        this.#readersOf.set(object.namespace, readers.add(namespace));
      }
    }
  }

  #connected(more: Partial<ClusterHeader> = {}): void {
    this.#shown.resolve();
    if (this.#header.connection.state === "connected" && more.readAt === undefined) return;
    this.#publishHeader({ connection: { state: "connected", error: null }, ...more });
  }

  /** Shows that the cluster is lost. Its rows stay. Throws an error that is a bug. */
  #lost(error: unknown): void {
    const { cluster, call } = this.options;
    const failure = reportFailure(error, cluster);
    if (failure === undefined) throw error;
    const next =
      isForbidden(error) && call.values.namespace === undefined
        ? `${failure.line}. To see one namespace, pass -n.`
        : failure.line;
    this.#shown.resolve();
    this.#mark(undefined);
    this.#everythingNotBefore = Number.NEGATIVE_INFINITY;
    this.#statusAt = Number.NEGATIVE_INFINITY;
    this.#publishHeader({ connection: { state: "lost", error: next } });
  }

  #publishHeader(more: Partial<ClusterHeader>): void {
    this.#header = { ...this.#header, ...more };
    this.options.stream.publish({ clusters: { rows: [this.#header], replaces: () => false } });
  }
}
