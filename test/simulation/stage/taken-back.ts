import { saidOf } from "../model-policy.ts";
import { isComplete } from "../model-progress.ts";
import { standsFor } from "../model-search.ts";
import { namespaceOf, type Stored, storedWhenRight } from "../model-stored.ts";
import { isOutOfSight, namedBy, optedIn, readHash, workloadResources } from "../model-workload.ts";
import type { BatchSettings, StoredObject } from "../record.ts";
import type { Nodes, NodesOptions } from "./nodes.ts";
import type { Random } from "./random.ts";

/** What {@link TakenBack} needs. */
interface TakenBackOptions extends NodesOptions {
  readonly settings: BatchSettings;
  readonly nodes: Nodes;
  /** Ends the leader, and starts another process on its machine. */
  readonly changeLeader: (how: "crash" | "stop") => Promise<void>;
  /** Advances until everything is right, also the Pods. */
  readonly becomeRight: () => Promise<void>;
}

const hold = "wave.pusher.com/hold";

/**
 * Plays edits that are taken back: while a workload is held, an object that it reads changes, containers restart or Pods are replaced, and
 * the change is taken back. Afterwards the recorded hash is right again, and only what the containers have read shows which Pods are mixed.
 */
export class TakenBack {
  readonly #options: TakenBackOptions;
  readonly #random: Random;

  constructor(options: TakenBackOptions) {
    this.#options = options;
    this.#random = options.random.stream("taken back");
  }

  /** Plays all rounds. Returns the moments at which every Pod had to be right. */
  async play(): Promise<readonly number[]> {
    const { scheduler, becomeRight } = this.#options;
    await becomeRight();
    const moments = [scheduler.now];
    for (let round = 0; round < 2; round++) {
      let isOver = false;
      const played = this.#round().finally(() => {
        isOver = true;
      });
      while (!isOver) await scheduler.runUntil(scheduler.now + 1_000);
      await played;
      await becomeRight();
      moments.push(scheduler.now);
    }
    return moments;
  }

  async #round(): Promise<void> {
    const { scheduler, trace } = this.#options;
    const random = this.#random;
    const found = this.#someReader();
    if (found === undefined) return;
    const [workload, object] = found;
    trace.line("", () => `taken back: ${object.kind} ${object.metadata.name}, which ${workload.metadata.name} reads`);
    if (random.chance(0.8)) await this.#scale(workload, random.pick([3, 4, 6]));
    await scheduler.sleep(random.between(1_000, 10_000));
    await this.#annotate(workload, "true");
    await scheduler.sleep(random.between(1_000, 10_000));
    if (random.chance(0.3)) await this.#hit(workload);
    await scheduler.sleep(random.pick([500, 20_000]));
    await this.#change(object);
    const spanMs = random.pick([10_000, 30_000, 60_000, 120_000]);
    await scheduler.sleep(random.between(100, spanMs));
    for (let times = random.pick([0, 1, 2, 2]); times > 0; times--) {
      await this.#hit(workload);
      await scheduler.sleep(random.exponential(2_000));
    }
    await scheduler.sleep(random.between(100, spanMs));
    const leaderEnds = random.pick(["never", "never", "before", "after"] as const);
    if (leaderEnds === "before") await this.#endLeader();
    await this.#restore(object);
    await scheduler.sleep(random.pick([500, 20_000, 60_000, 120_000]));
    // The next leader sees no difference, and knows only what the last one noted.
    if (leaderEnds === "after") await this.#endLeader();
    if (random.chance(0.4)) await this.#hit(workload);
    await scheduler.sleep(random.exponential(10_000));
    await this.#annotate(workload, null);
  }

  async #endLeader(): Promise<void> {
    await this.#options.changeLeader(this.#random.pick(["crash", "stop"]));
    await this.#options.scheduler.sleep(this.#random.pick([1_000, 60_000]));
  }

  /** Returns a workload whose Pods run the recorded configuration, and an object that it reads. */
  #someReader(): readonly [StoredObject, StoredObject] | undefined {
    const { settings, scheduler, cluster } = this.#options;
    const [stored] = [...storedWhenRight({ history: cluster.history, rightAt: [scheduler.now] })];
    if (stored === undefined) return undefined;
    const workloads = [...stored.objects].filter(([key, object]) => {
      const [resource = ""] = key.split("/");
      return workloadResources.includes(resource) && resource !== "widgets" && isRight(object, stored, settings);
    });
    const readers = workloads.flatMap(([, workload]) => {
      const { namespace } = workload.metadata;
      const names = namedBy(workload, settings).map(({ key }) => key);
      const own = names.map((key) => (key.split("/")[1] === namespace ? stored.find(key) : undefined));
      return own.flatMap((object) => (object === undefined ? [] : [[workload, object] as const]));
    });
    // A DaemonSet has one Pod on the one node.
    const scaled = readers.filter(([{ kind }]) => kind !== "DaemonSet");
    const preferred = scaled.length > 0 && this.#random.chance(0.8) ? scaled : readers;
    return preferred.length === 0 ? undefined : this.#random.pick(preferred);
  }

  async #hit({ metadata: { namespace, name } }: StoredObject): Promise<void> {
    const { nodes } = this.#options;
    const prefix = `${name}-`;
    const pods = nodes
      .pods()
      .filter(({ metadata }) => metadata.namespace === namespace && metadata.name.startsWith(prefix));
    await nodes.hit(pods.length > 0 && this.#random.chance(0.7) ? [this.#random.pick(pods)] : pods);
  }

  #annotate(workload: StoredObject, value: string | null): Promise<void> {
    return this.#patch(workload, { metadata: { annotations: { [hold]: value } } });
  }

  async #scale(workload: StoredObject, replicas: number): Promise<void> {
    if (workload.kind !== "DaemonSet") await this.#patch(workload, { spec: { replicas } });
  }

  async #patch({ kind, metadata }: StoredObject, body: object): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${metadata.namespace}/${kind.toLowerCase()}s/${metadata.name}`;
    // The name `kubectl` alone is that of `kubectl rollout undo`.
    await this.#options.cluster.api.request("PATCH", path, { body, manager: "kubectl-edit" });
  }

  async #change(object: StoredObject): Promise<void> {
    const data = (object.data ?? {}) as Readonly<Record<string, string>>;
    const value = object.kind === "Secret" ? Buffer.from("taken back").toString("base64") : "taken back";
    const changed = Object.fromEntries(Object.keys(data).map((key) => [key, value]));
    await this.#put(object, this.#random.chance(0.15) ? {} : changed);
  }

  #restore(object: StoredObject): Promise<void> {
    return this.#put(object, (object.data ?? {}) as Readonly<Record<string, string>>);
  }

  async #put({ kind, metadata, binaryData }: StoredObject, data: Readonly<Record<string, string>>): Promise<void> {
    const { namespace, name, annotations } = metadata;
    const path = `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
    const body = { apiVersion: "v1", kind, metadata: { name, namespace, annotations }, data, binaryData };
    await this.#options.cluster.api.request("PUT", path, { body });
  }
}

/** Reports whether Wave manages a workload, nothing holds it, and its Pods run the current configuration. */
function isRight(workload: StoredObject, stored: Stored, settings: BatchSettings): boolean {
  const of = namespaceOf(workload, stored.objects);
  if (!optedIn(workload, settings, of) || isOutOfSight(workload, settings, undefined)) return false;
  if (settings.pacing !== undefined) {
    const said = saidOf(workload, of, settings.pacing);
    if (said.observes || said.holds || said.approves || said.window !== undefined) return false;
  }
  const { hash, missing } = standsFor(namedBy(workload, settings), stored.find);
  return !missing && hash !== undefined && hash === readHash(workload) && isComplete(workload);
}
