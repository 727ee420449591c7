import { execFile } from "node:child_process";
import { join } from "node:path";
import type { Cluster } from "../control-plane/cluster.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { freePort, startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, type WorkloadKind, workload } from "../end-to-end/objects.ts";
import { type EventState, getWorkload, newHash, recordedHash, settledRevisions } from "../end-to-end/state.ts";

/** A Wave of its own for one namespace, with or without webhooks. */
export interface Scene {
  readonly cluster: Cluster;
  readonly namespace: Namespace;
  readonly wave: WaveProcess;
  /** The MutatingWebhookConfiguration that Wave registers. */
  readonly configuration: string;
  /** Resolves when Wave has acted on everything that changed before: it has rolled a workload that changed after. */
  readonly caughtUp: () => Promise<void>;
}

/** Where the API server has its mutating webhooks. */
export const configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** A pod spec that reads all of a ConfigMap. */
export const reads = (name: string, optional = false) => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name: "app", image: "nginx", envFrom: [{ configMapRef: { name, optional } }] }],
});

/** Makes a namespace and starts Wave for it alone. */
export async function startScene(
  cluster: Cluster,
  ns: string,
  { webhooks, args = [] }: { webhooks: boolean; args?: readonly string[] },
): Promise<Scene> {
  const namespace = await makeNamespace(cluster, ns);
  const port = await freePort();
  const webhookArgs = [
    "--enable-webhooks",
    `--webhook-bind-address=127.0.0.1:${port}`,
    `--webhook-url=https://127.0.0.1:${port}`,
    `--webhook-service-name=${ns}`,
  ];
  const wave = await startWave([
    "--kubeconfig",
    cluster.kubeconfig,
    `--namespaces=${ns}`,
    ...(webhooks ? webhookArgs : []),
    ...args,
  ]);
  await namespace.configMap("canary", { a: "0" });
  await namespace.create(workload("canary", reads("canary")));
  await newHash(cluster, ns, "Deployment", "canary");
  let edits = 0;
  return {
    cluster,
    namespace,
    wave,
    configuration: `wave-127.0.0.1-${port}`,
    async caughtUp() {
      const before = await recordedHash(cluster, ns, "Deployment", "canary");
      await namespace.edit("ConfigMap", "canary", { a: String(++edits) });
      await newHash(cluster, ns, "Deployment", "canary", before);
    },
  };
}

/** How often Kubernetes has made a revision of a workload and started one of its Pods on a node, since it exists. */
export async function lifeOf({ cluster, namespace }: Scene, kind: WorkloadKind, name: string) {
  const events = (await cluster.list(`/api/v1/namespaces/${namespace.name}/events`)) as readonly EventState[];
  const started = events.filter(
    ({ reason, involvedObject }) =>
      reason === "Scheduled" && new RegExp(`^${name}-[a-z0-9-]+$`).test(involvedObject.name),
  );
  return { revisions: await settledRevisions(cluster, namespace.name, kind, name), started: started.length };
}

/** Waits until the newest revision of a workload runs everywhere, by its status. */
export function rolledOut({ cluster, namespace }: Scene, kind: WorkloadKind, name: string) {
  return cluster.kubectl(["-n", namespace.name, "rollout", "status", `${kind.toLowerCase()}/${name}`, "--timeout=90s"]);
}

/** Whether the controller itself has ever written a workload; what admission changes counts as the requester's. */
export async function writtenByController({ cluster, namespace }: Scene, kind: WorkloadKind, name: string) {
  const { metadata } = await getWorkload(cluster, namespace.name, kind, name);
  const { managedFields = [] } = metadata as { managedFields?: readonly { manager?: string }[] };
  return managedFields.some(({ manager }) => manager === "wave");
}

/** The status words of a workload's Pods that are not being deleted. */
export async function podPhases({ cluster, namespace }: Scene, name: string): Promise<readonly unknown[]> {
  const pods = await cluster.list(`/api/v1/namespaces/${namespace.name}/pods?labelSelector=app=${name}`);
  return pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ status }) => (status as { phase?: string }).phase);
}

/** Waits for Pods in this phase, at least one and no other. */
export function podsToBe(scene: Scene, name: string, phase: string) {
  return until(`all Pods of ${name} to be ${phase}`, async () => {
    const phases = await podPhases(scene, name);
    return phases.length > 0 && phases.every((one) => one === phase) ? true : undefined;
  });
}

/** Runs helm; resolves with what it printed, rejects with its error output. */
export function helm({ kubeconfig }: Cluster, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(join(controlPlaneFolder(), "helm"), ["--kubeconfig", kubeconfig, ...args], (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : resolve(stdout + stderr),
    );
  });
}
