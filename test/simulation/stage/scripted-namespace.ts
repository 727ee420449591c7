import { resources, type SandboxResource } from "../../../sandbox/objects/resources.ts";
import { holdingsOf } from "../judge-leadership.ts";
import { isComplete } from "../model-progress.ts";
import { isValidator, readHash } from "../model-workload.ts";
import type { StoredObject } from "../record.ts";
import type { Cluster } from "./cluster.ts";
import type { Replica } from "./replica.ts";
import type { Scheduler } from "./scheduler.ts";

/** What a {@link ScriptedNamespace} needs. */
export interface ScriptOptions {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  /** The processes that run now. */
  readonly replicas: () => readonly Replica[];
}

/** A kind of configuration. */
export type ConfigKind = "ConfigMap" | "Secret";

type ConfigMap = StoredObject & { readonly data?: Readonly<Record<string, string>> };

/** The name of the ConfigMap that the workloads of a script read. */
export const pageName = "page";
/** The longest wait for a state, in milliseconds. */
const longestMs = 1_800_000;
const prefix = "wave.pusher.com/";

/** A namespace of its own, in which a script plays people. Its workloads read one ConfigMap, one Secret, or both. */
export class ScriptedNamespace {
  readonly #options: ScriptOptions;
  readonly #namespace: string;
  readonly #kinds: readonly ConfigKind[];

  constructor(options: ScriptOptions, namespace: string, kinds: readonly ConfigKind[] = ["ConfigMap"]) {
    this.#options = options;
    this.#namespace = namespace;
    this.#kinds = kinds;
  }

  /** Creates the Namespace and the configuration. */
  async create(data: Readonly<Record<string, string>>): Promise<void> {
    const namespace = this.#namespace;
    await this.#send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const metadata = { name: pageName, namespace };
    for (const kind of this.#kinds) await this.#send("POST", this.#pathOf(kind), { metadata, ...dataOf(kind, data) });
  }

  /** Creates a workload that reads the configuration, or only one key of the ConfigMap. The names of its annotations are without the prefix of Wave. */
  createWorkload(
    plural: "deployments" | "statefulsets",
    name: string,
    said: Readonly<Record<string, string>>,
    spec: Readonly<Record<string, unknown>>,
    key?: string,
  ): Promise<void> {
    const labels = { app: name };
    const envFrom = this.#kinds.map((kind) => ({
      [kind === "Secret" ? "secretRef" : "configMapRef"]: { name: pageName },
    }));
    const env = [{ name: "V", valueFrom: { configMapKeyRef: { name: pageName, key } } }];
    const container = { name: "app", image: "app:1", ...(key === undefined ? { envFrom } : { env }) };
    const body = {
      metadata: {
        name,
        namespace: this.#namespace,
        annotations: prefixed({ ...said, "update-on-config-change": "true" }),
      },
      spec: {
        ...spec,
        ...(plural === "statefulsets" && { serviceName: "" }),
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    };
    return this.#send("POST", `/apis/apps/v1/namespaces/${this.#namespace}/${plural}`, body);
  }

  /** Edits the configuration. */
  async edit(data: Readonly<Record<string, string>>): Promise<void> {
    for (const kind of this.#kinds) await this.#send("PATCH", `${this.#pathOf(kind)}/${pageName}`, dataOf(kind, data));
  }

  /** Sets annotations of Wave on a workload; null removes one. */
  annotate(workload: StoredObject, said: Readonly<Record<string, string | null>>): Promise<void> {
    return this.patch(workload, { metadata: { annotations: prefixed(said) } }, "kubectl-annotate");
  }

  /** Sets the annotation of a person who resumes a workload now. */
  resume(workload: StoredObject): Promise<void> {
    const { cluster, scheduler } = this.#options;
    const resumed = new Date(cluster.epoch + scheduler.now).toISOString().replace(/\.\d+/, "");
    return this.annotate(workload, { resumed });
  }

  /** Patches a workload. */
  patch({ kind, metadata: { name } }: StoredObject, body: object, manager: string): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${this.#namespace}/${kind.toLowerCase()}s/${name}`;
    return this.#send("PATCH", path, body, manager);
  }

  /** Returns the workloads except for validators. */
  workloads(): readonly StoredObject[] {
    const stored = [resources.deployments, resources.statefulSets].flatMap((each) => this.#list(each));
    return stored.filter((one) => !isValidator(one));
  }

  /** Returns the validators. */
  validators(): readonly StoredObject[] {
    return this.#list(resources.deployments).filter(isValidator);
  }

  /** Reports whether Wave has recorded what these workloads read, and all are complete. */
  areComplete(): boolean {
    return this.workloads().every((one) => readHash(one) !== undefined && isComplete(one));
  }

  /** Returns a ConfigMap. */
  find(configMap: string | undefined): ConfigMap | undefined {
    return this.#list(resources.configMaps).find(({ metadata }) => metadata.name === configMap);
  }

  /** Resolves when this is true, at the latest after half an hour; returns whether it is. */
  async until(isTrue: () => boolean): Promise<boolean> {
    const { scheduler } = this.#options;
    const end = scheduler.now + longestMs;
    while (!isTrue()) {
      if (scheduler.now > end) return false;
      await scheduler.sleep(500);
    }
    return true;
  }

  /**
   * Waits until no rollout is one of a series of consecutive rollouts, between which Wave waits longer and longer. Suspends the standbys for this
   * time, in which nothing happens: their reads of the Lease would take most of the processor time of the run.
   */
  async rest(): Promise<void> {
    const { scheduler, cluster, replicas } = this.#options;
    const restMs = this.hasWrongClock() ? 1_320_000 : 660_000;
    const leader = holdingsOf(cluster.history).at(-1)?.replica;
    const running = replicas().filter(({ isOver }) => !isOver);
    const standbys = running.filter(({ process }) => process.name !== leader);
    const hasLeader = standbys.length < running.length;
    for (const standby of hasLeader ? standbys : []) standby.pause("suspended");
    await scheduler.sleep(restMs);
    for (const standby of standbys) standby.resume(false);
  }

  /** Reports whether the clock of a process is wrong. */
  hasWrongClock(): boolean {
    const { replicas, cluster, scheduler } = this.#options;
    const offMs = replicas().map(({ process }) => process.clock.wall() - cluster.epoch - scheduler.now);
    return offMs.some((ms) => Math.abs(ms) > 500);
  }

  #list(resource: SandboxResource): readonly ConfigMap[] {
    const { storage } = this.#options.cluster.server.registry;
    return storage.list(resource, this.#namespace) as unknown as readonly ConfigMap[];
  }

  #pathOf(kind: ConfigKind): string {
    return `/api/v1/namespaces/${this.#namespace}/${kind === "Secret" ? "secrets" : "configmaps"}`;
  }

  async #send(method: "POST" | "PATCH", path: string, body: object, manager = "kubectl-create"): Promise<void> {
    const { status } = await this.#options.cluster.api.request(method, path, { body, manager });
    if (status >= 300) throw new Error(`${method} ${path} ${status}`);
  }
}

/** Advances virtual time until a script has ended. */
export async function played<T>(scheduler: Scheduler, script: Promise<T>): Promise<T> {
  let isOver = false;
  const end = script.finally(() => {
    isOver = true;
  });
  while (!isOver) await scheduler.runUntil(scheduler.now + 1_000);
  return await end;
}

function dataOf(kind: ConfigKind, data: Readonly<Record<string, string>>): object {
  return kind === "Secret" ? { stringData: data } : { data };
}

function prefixed(said: Readonly<Record<string, string | null>>): Readonly<Record<string, string | null>> {
  return Object.fromEntries(Object.entries(said).map(([name, value]) => [prefix + name, value]));
}
