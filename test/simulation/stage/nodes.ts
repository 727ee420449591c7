import { restartContainers } from "../../../sandbox/controllers/kubelet.ts";
import type { Json } from "../../../sandbox/objects/json.ts";
import { resources } from "../../../sandbox/objects/resources.ts";
import { isOlderThan } from "../kept-seeds.ts";
import type { ContainerStart, StoredObject } from "../record.ts";
import type { Cluster } from "./cluster.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";

/** The kubelet shows a change of a mounted file at most this much later: less than the 2 minutes of Kubernetes. */
const filesMs = 115_000;

/** What happens to Pods without Wave and without an edit. */
const troubles = ["restart", "restart", "restart all", "restart all", "evict", "delete", "lose", "drain"] as const;

/** Whether containers restart and Pods are evicted: in half of the runs, but in no older run that is kept. */
export function chooseRestarts(random: Random, seed: number): boolean {
  return random.chance(0.5) && !isOlderThan(seed, "restarts");
}

/** Whether the node is full for some time: in a third of the runs, but in no older run that is kept. */
export function chooseFull(random: Random, seed: number): boolean {
  return random.chance(0.34) && !isOlderThan(seed, "full nodes");
}

/** Returns how late the built-in controllers see a write: in half of the runs at once, as in older runs that are kept. */
export function chooseControllerDelay(random: Random, seed: number): () => number {
  const isLate = random.chance(0.5) && !isOlderThan(seed, "late controllers");
  return () => (isLate ? Math.min(random.exponential(40), 1_000) : 0);
}

/** Lets no Pod find a node for some time, again and again until a time. The last time may be as much longer, so that a rollout is stuck. */
export async function fillNodes(
  { cluster, scheduler, trace, ...options }: NodesOptions,
  until: number,
  longerMs: number,
): Promise<void> {
  const random = options.random.stream("full nodes");
  const end = until + random.between(0, longerMs);
  while (scheduler.now < until) {
    await scheduler.sleep(Math.min(random.exponential(20_000), Math.max(0, until - 1_000 - scheduler.now)));
    cluster.isFull = true;
    trace.line("node", () => "is full");
    const isLast = random.chance(0.3) || scheduler.now >= until - 2_000;
    await scheduler.sleep(isLast ? end - scheduler.now : random.between(1_000, 20_000));
    cluster.isFull = false;
    trace.line("node", () => "has room");
  }
}

/** What {@link Nodes} needs. */
export interface NodesOptions {
  readonly cluster: Cluster;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly trace: Trace;
}

/** The nodes: containers restart, and others evict and delete Pods. Records what each container could read when it started. */
export class Nodes {
  /** Every start of a container, oldest first. */
  readonly starts: ContainerStart[] = [];
  readonly #options: NodesOptions;
  readonly #random: Random;
  /** For each Pod, by uid, the state that its files show at least. */
  readonly #files = new Map<string, number>();

  constructor(options: NodesOptions) {
    const { cluster, random } = options;
    this.#options = options;
    this.#random = random.stream("nodes");
    cluster.server.registry.storage.subscribe(({ resource, revision, before, after }) => {
      if (resource === resources.pods && after !== undefined)
        this.#record(revision, before as unknown as StoredObject | undefined, after as unknown as StoredObject);
    });
  }

  /** Lets containers restart and Pods go until a time. */
  async trouble(until: number): Promise<void> {
    const { scheduler } = this.#options;
    const pace = this.#random.pick([2_000, 8_000, 30_000]);
    for (;;) {
      await scheduler.sleep(this.#random.exponential(pace));
      if (scheduler.now >= until) return;
      await this.hit(this.pods());
    }
  }

  /** Returns the Pods that are not being deleted. */
  pods(): readonly StoredObject[] {
    const pods = this.#options.cluster.server.registry.storage.list(resources.pods) as unknown as StoredObject[];
    return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Lets something happen to one of some Pods, or to several. */
  async hit(pods: readonly StoredObject[]): Promise<void> {
    if (pods.length === 0) return;
    const pod = this.#random.pick(pods);
    const what = this.#random.pick(troubles);
    const { namespace, name } = pod.metadata;
    this.#options.trace.line("node", () => `${what} ${namespace}/${name}`);
    switch (what) {
      case "restart":
        return this.#restart(pod, [this.#random.pick(namesOf(pod, "containers"))]);
      case "restart all":
        return this.#restart(pod, [...namesOf(pod, "initContainers"), ...namesOf(pod, "containers")]);
      case "evict":
        return this.#evict(pod);
      case "delete":
        return this.#send("DELETE", pathOf(pod), {});
      case "lose":
        return this.#send("DELETE", pathOf(pod), { gracePeriodSeconds: 0 });
      case "drain":
        for (const each of pods) if (each.metadata.namespace === namespace) await this.#evict(each);
    }
  }

  #restart({ metadata: { namespace, name } }: StoredObject, containers: readonly string[]): void {
    const { server, crashes } = this.#options.cluster;
    restartContainers(server.registry, `${namespace}/${name}`, containers, crashes);
  }

  #evict(pod: StoredObject): Promise<void> {
    const { namespace, name } = pod.metadata;
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } };
    return this.#send("POST", `${pathOf(pod)}/eviction`, body);
  }

  async #send(method: string, path: string, body: Json): Promise<void> {
    const headers = { "content-type": "application/json", accept: "application/json", "user-agent": "kubectl/1" };
    await this.#options.cluster.answer({ method, path, headers, body }, { actor: "node" });
  }

  /** Records the containers that have started: variables have what is stored now, files what the kubelet has last shown. */
  #record(rv: number, before: StoredObject | undefined, after: StoredObject): void {
    const { uid } = after.metadata;
    const { now: at } = this.#options.scheduler;
    const was = new Map(startsIn(before));
    const started = startsIn(after).filter(([name, text]) => was.get(name) !== text);
    const setUp = this.#files.get(uid);
    // The volumes are set up before the first container starts, also if it crashes.
    if (setUp === undefined && hasVolumes(after)) this.#files.set(uid, rv);
    if (started.length === 0) return;
    const shown = setUp === undefined ? rv : Math.max(setUp, this.#shownAt(at - this.#random.between(0, filesMs)));
    this.#files.set(uid, shown);
    for (const [container] of started) this.starts.push({ at, rv, pod: uid, container, filesRv: shown });
  }

  /** Returns the last revision of a time. */
  #shownAt(at: number): number {
    return this.#options.cluster.history.findLast((entry) => entry.at <= at)?.rv ?? 0;
  }
}

interface Status {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: { readonly [state: string]: { readonly startedAt?: string } | undefined };
}

/** Returns the containers that have started, each with a text that is another after the next start. */
function startsIn(pod: StoredObject | undefined): readonly (readonly [string, string])[] {
  const status = (pod?.status ?? {}) as {
    readonly initContainerStatuses?: readonly Status[];
    readonly containerStatuses?: readonly Status[];
  };
  const init = (status.initContainerStatuses ?? []).map(({ name, state }) => ({ name, by: state?.terminated }));
  const other = (status.containerStatuses ?? []).map(({ name, state }) => ({ name, by: state?.running }));
  const counts = new Map(status.containerStatuses?.map(({ name, restartCount }) => [name, restartCount]));
  return [...init, ...other].flatMap(({ name, by }) =>
    by === undefined ? [] : [[name, `${by.startedAt} ${counts.get(name) ?? 0}`] as const],
  );
}

function hasVolumes({ status }: StoredObject): boolean {
  return (status as { readonly startTime?: string } | undefined)?.startTime !== undefined;
}

function namesOf({ spec }: StoredObject, field: "containers" | "initContainers"): readonly string[] {
  const containers = (spec as { readonly [field: string]: readonly { readonly name: string }[] | undefined })[field];
  return containers?.map(({ name }) => name) ?? [];
}

function pathOf({ metadata }: StoredObject): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
}
