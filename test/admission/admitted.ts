import { execFile } from "node:child_process";
import { join } from "node:path";
import type { Cluster } from "../control-plane/cluster.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { freePort, startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, type WorkloadKind, workload } from "../end-to-end/objects.ts";
import { type EventState, getWorkload, newHash, recordedHash, settledRevisions } from "../end-to-end/state.ts";

/** A separate Wave for one namespace, with or without webhooks. */
export interface Scene {
  readonly cluster: Cluster;
  readonly namespace: Namespace;
  readonly wave: WaveProcess;
  /** The MutatingWebhookConfiguration that Wave registers. */
  readonly configuration: string;
  /** Resolves when Wave has processed all earlier changes, because it has rolled a workload that changed later. */
  readonly caughtUp: () => Promise<void>;
}

/** A namespace of a cluster. */
export type Place = Pick<Scene, "cluster" | "namespace">;

/** A {@link Scene} whose Wave can be started again. */
export interface StartedScene extends Scene {
  /** Starts Wave with the same flags. */
  readonly startAgain: () => Promise<WaveProcess>;
}

/** The path of the mutating webhooks in the API server. */
export const configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** A pod spec that reads all of a ConfigMap. */
export const reads = (name: string, optional = false) => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name: "app", image: "nginx", envFrom: [{ configMapRef: { name, optional } }] }],
});

/** Creates a namespace and starts Wave for this namespace only. */
export async function startScene(
  cluster: Cluster,
  ns: string,
  { webhooks, args = [] }: { webhooks: boolean; args?: readonly string[] },
): Promise<StartedScene> {
  const namespace = await makeNamespace(cluster, ns);
  const port = await freePort();
  const webhookArgs = [
    "--enable-webhooks",
    `--webhook-bind-address=127.0.0.1:${port}`,
    `--webhook-url=https://127.0.0.1:${port}`,
    `--webhook-service-name=${ns}`,
  ];
  const start = () =>
    startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, ...(webhooks ? webhookArgs : []), ...args]);
  const wave = await start();
  await namespace.configMap("canary", { a: "0" });
  await namespace.create(workload("canary", reads("canary")));
  await newHash(cluster, ns, "Deployment", "canary");
  let edits = 0;
  return {
    cluster,
    namespace,
    wave,
    startAgain: start,
    configuration: `wave-127.0.0.1-${port}`,
    async caughtUp() {
      const before = await recordedHash(cluster, ns, "Deployment", "canary");
      await namespace.edit("ConfigMap", "canary", { a: String(++edits) });
      await newHash(cluster, ns, "Deployment", "canary", before);
    },
  };
}

/** The number of revisions of a workload, and the number of its Pods that were scheduled, since the workload exists. */
export async function lifeOf({ cluster, namespace }: Scene, kind: WorkloadKind, name: string) {
  const events = (await cluster.list(`/api/v1/namespaces/${namespace.name}/events`)) as readonly EventState[];
  const started = events.filter(
    ({ reason, involvedObject }) =>
      reason === "Scheduled" && new RegExp(`^${name}-[a-z0-9-]+$`).test(involvedObject.name),
  );
  return { revisions: await settledRevisions(cluster, namespace.name, kind, name), started: started.length };
}

/** Waits until the status of a workload shows that all Pods run the newest revision. */
export function rolledOut({ cluster, namespace }: Place, kind: WorkloadKind, name: string) {
  return cluster.kubectl(["-n", namespace.name, "rollout", "status", `${kind.toLowerCase()}/${name}`, "--timeout=90s"]);
}

/** Reports whether the controller has written a workload. A change by the webhook belongs to the client that sent the request. */
export async function writtenByController({ cluster, namespace }: Scene, kind: WorkloadKind, name: string) {
  const { metadata } = await getWorkload(cluster, namespace.name, kind, name);
  const { managedFields = [] } = metadata as { managedFields?: readonly { manager?: string }[] };
  return managedFields.some(({ manager }) => manager === "wave");
}

/** Returns the phases of the Pods of a workload, without Pods that are being deleted. */
export async function podPhases({ cluster, namespace }: Scene, name: string): Promise<readonly unknown[]> {
  const pods = await cluster.list(`/api/v1/namespaces/${namespace.name}/pods?labelSelector=app=${name}`);
  return pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ status }) => (status as { phase?: string }).phase);
}

/** Waits until there is at least one Pod and all Pods are in this phase. */
export function podsToBe(scene: Scene, name: string, phase: string) {
  return until(`all Pods of ${name} to be ${phase}`, async () => {
    const phases = await podPhases(scene, name);
    return phases.length > 0 && phases.every((one) => one === phase) ? true : undefined;
  });
}

/** Runs helm. Resolves to its output; rejects with its error output. */
export function helm({ kubeconfig }: Cluster, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(join(controlPlaneFolder(), "helm"), ["--kubeconfig", kubeconfig, ...args], (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : resolve(stdout + stderr),
    );
  });
}
