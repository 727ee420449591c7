import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { makeNode } from "../control-plane/played-node.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, type Namespace, optIn, workload } from "../end-to-end/objects.ts";
import { hashInForce } from "../end-to-end/state.ts";

/**
 * Deployments of one Pod each that read one ConfigMap at their start. They exit at once if its `state` is `bad`. If the `state` is
 * `restarts`, they restart again and again, and are ready in between.
 */
export interface Applications {
  /** The number of Deployments with each hash; "none" is the number without a hash. */
  readonly hashes: () => Promise<ReadonlyMap<string, number>>;
  /** The Deployments as they are now. */
  readonly list: () => Promise<readonly ApplicationDeployment[]>;
  /** Resolves with the hash when all have the same hash and this hash is not `before`. */
  readonly onlyHash: (before?: string) => Promise<string>;
  /** Closes or opens their node: new Pods have no other. */
  readonly closeNode: (isClosed: boolean) => Promise<unknown>;
  /** Creates a validator that reads the same: its container exits with code 3 if `state` is `bad`. */
  readonly addValidator: (name: string) => Promise<void>;
  /** Resolves when no rollout is under way. */
  readonly complete: () => Promise<void>;
  /** Resolves as `complete`, and when no earlier write holds any of them. A first hash holds the others for a while. */
  readonly free: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The fields of a Deployment that tests read. */
export interface ApplicationDeployment extends AnyObject {
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
  readonly status: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly replicas?: number;
    readonly availableReplicas?: number;
  };
}

/** Returns the hash of what the Pods of a Deployment read, in the pod template or recorded beside it; "none" without a hash. */
export function hashOf({ metadata, spec }: ApplicationDeployment): string {
  return hashInForce(metadata, spec.template.metadata) ?? "none";
}

/** Reports whether its only Pod is new and available. */
export function isComplete({ metadata, status }: ApplicationDeployment): boolean {
  const { observedGeneration = 0, updatedReplicas, replicas, availableReplicas } = status;
  if (observedGeneration < (metadata.generation ?? 0)) return false;
  return updatedReplicas === 1 && replicas === 1 && availableReplicas === 1;
}

/** A little more than the minimum interval between two rollouts: docs/pacing.md. */
const intervalMs = 11_000;

const taint = { key: "test/applications", effect: "NoSchedule" };

/**
 * Creates a ConfigMap `shared` with good values, `count` Deployments `app-…` that read it, and a node for their Pods. This
 * process is the kubelet of the node, because the Pods of kwok read nothing and no edit could break them.
 */
export async function makeApplications(
  cluster: Cluster,
  namespace: Namespace,
  count: number,
  annotations: Record<string, string> = {},
  minReadySeconds = 0,
  envFrom: readonly object[] = [{ configMapRef: { name: "shared" } }],
): Promise<Applications> {
  const { name } = namespace;
  const node = `node-of-${name}`;
  await makeNode(cluster, node, taint);
  await namespace.configMap("shared", { state: "good", edit: "0" });
  const podSpec = {
    containers: [{ ...container, envFrom }],
    nodeSelector: { "kubernetes.io/hostname": node },
    tolerations: [taint],
  };
  const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  await inParallel(count, (index) =>
    namespace.create(
      workload(`app-${String(index).padStart(3, "0")}`, podSpec, {
        annotations: { ...optIn, ...annotations },
        spec: { replicas: 1, strategy, minReadySeconds },
      }),
    ),
  );
  const addValidator = (name: string) =>
    namespace.create(
      workload(name, podSpec, {
        annotations: { ...optIn, "wave.pusher.com/validator": "true" },
        spec: { replicas: 1, strategy: { type: "Recreate" } },
      }),
    );
  const stopKubelet = runKubelet(cluster, name, node);
  const list = async () =>
    (await cluster.list(`/apis/apps/v1/namespaces/${name}/deployments`)) as readonly ApplicationDeployment[];
  const hashes = async () => {
    const counts = new Map<string, number>();
    for (const each of await list()) counts.set(hashOf(each), (counts.get(hashOf(each)) ?? 0) + 1);
    return counts;
  };
  const onlyHash = (before?: string) =>
    until(
      "one hash on all",
      async () => {
        const [hash, ...others] = (await hashes()).keys();
        return others.length > 0 || hash === "none" || hash === before ? undefined : hash;
      },
      150_000,
    );
  const complete = async () => {
    await until("all to be complete", async () => ((await list()).every(isComplete) ? true : undefined), 150_000);
  };
  const free = async () => {
    const last = performance.now();
    await complete();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, last + intervalMs - performance.now())));
  };
  const stop = async () => {
    await stopKubelet();
    await cluster.api("DELETE", `/api/v1/nodes/${node}`);
  };
  const closeNode = (unschedulable: boolean) =>
    cluster.api("PATCH", `/api/v1/nodes/${node}`, { spec: { unschedulable } }, "application/merge-patch+json");
  return { addValidator, list, hashes, onlyHash, closeNode, complete, free, stop };
}

interface Pod extends AnyObject {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase?: string };
}

/** Starts Pods as a kubelet does, with the configuration of that moment. Retries a Pod that crashes. */
function runKubelet(cluster: Cluster, namespace: string, node: string): () => Promise<void> {
  const ready = new Set<string>();
  const exited = new Set<string>();
  let stopped = false;
  const state = async () => {
    const { data } = await cluster.api<AnyObject & { data: { state: string } }>(
      "GET",
      `/api/v1/namespaces/${namespace}/configmaps/shared`,
    );
    return data.state;
  };
  const look = async () => {
    const pods = (await cluster.list(
      `/api/v1/namespaces/${namespace}/pods?fieldSelector=spec.nodeName=${node}`,
    )) as readonly Pod[];
    const waiting = pods.filter(({ metadata }) => !ready.has(metadata.uid) && metadata.deletionTimestamp === undefined);
    if (waiting.length === 0) return;
    const now = await state();
    if (now === "bad") {
      const checks = waiting.filter(({ metadata }) => isOfValidator(metadata.name) && !exited.has(metadata.uid));
      for (const { metadata } of checks) {
        await exit(cluster, namespace, metadata.name);
        exited.add(metadata.uid);
      }
      return;
    }
    await inParallel(waiting.length, async (index) => {
      const pod = waiting[index];
      if (pod === undefined) return;
      ready.add(pod.metadata.uid);
      await makeReady(cluster, namespace, pod.metadata.name, now === "restarts" ? 3 : 0).catch(() =>
        ready.delete(pod.metadata.uid),
      );
    });
  };
  const run = async () => {
    while (!stopped) {
      await look().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const done = run();
  return () => {
    stopped = true;
    return done;
  };
}

function isOfValidator(pod: string): boolean {
  return pod.startsWith("check");
}

/** Ends the container of a Pod, which waits for its restart. */
function exit(cluster: Cluster, namespace: string, name: string): Promise<unknown> {
  const state = { waiting: { reason: "CrashLoopBackOff" } };
  const lastState = { terminated: { exitCode: 3, reason: "Error" } };
  const containerStatuses = [
    { name: "app", image: "nginx", imageID: "", ready: false, started: false, restartCount: 1, state, lastState },
  ];
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
  return cluster.api(
    "PATCH",
    path,
    { status: { phase: "Running", containerStatuses } },
    "application/merge-patch+json",
  );
}

function makeReady(cluster: Cluster, namespace: string, name: string, restartCount: number): Promise<unknown> {
  const now = new Date().toISOString();
  const conditions = ["Initialized", "PodScheduled", "ContainersReady", "Ready"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: now,
  }));
  const state = { running: { startedAt: now } };
  const status = {
    phase: "Running",
    startTime: now,
    conditions,
    containerStatuses: [
      { name: "app", image: "nginx", imageID: "", ready: true, started: true, restartCount, state, lastState: {} },
    ],
  };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
  return cluster.api("PATCH", path, { status }, "application/merge-patch+json");
}

async function inParallel(count: number, each: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await each(index);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
