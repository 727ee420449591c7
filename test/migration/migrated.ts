import type { Cluster } from "../control-plane/cluster.ts";
import { readAuditLog } from "../control-plane/control-plane.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { type WorkloadKind, workload } from "../end-to-end/objects.ts";

/** Starts Wave for one namespace, with a log of each plan. */
export function startFor(cluster: Cluster, namespace: string, ...flags: readonly string[]): Promise<WaveProcess> {
  const logged = ["--log-level=debug", "--log-format=json"];
  return startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${namespace}`, ...logged, ...flags]);
}

/** Returns the writes of Wave in a namespace, except Events, from the audit log, for example `patch deployments web`. */
export function writesIn(cluster: Cluster, namespace: string): readonly string[] {
  return readAuditLog(cluster.auditLog)
    .filter(({ userAgent, objectRef }) => userAgent?.startsWith("wave/") && objectRef?.namespace === namespace)
    .filter(({ verb, objectRef }) => !["get", "list", "watch"].includes(verb) && objectRef?.resource !== "events")
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource} ${objectRef?.name ?? ""}`);
}

/** Waits until the audit log has been written up to this moment. */
export async function auditWritten(cluster: Cluster): Promise<void> {
  const name = `now-${Date.now()}`;
  const asked = await cluster.api("GET", `/api/v1/namespaces/${name}`).catch(() => undefined);
  if (asked !== undefined) throw new Error(`there is a namespace ${name}`);
  const isTold = () => readAuditLog(cluster.auditLog).some(({ objectRef }) => objectRef?.name === name);
  await until("the audit log to be written", async () => (isTold() ? true : undefined));
}

/** Waits until the log shows that a workload needs no change. */
export function untilUnchanged(wave: WaveProcess, kind: WorkloadKind, name: string): Promise<boolean> {
  const parts = [`"kind":"${kind}"`, `"name":"${name}"`, '"outcome":"current"'];
  const isTold = () =>
    wave
      .log()
      .split("\n")
      .some((line) => parts.every((part) => line.includes(part)));
  return until(`${kind} ${name} to be planned`, async () => (isTold() ? true : undefined));
}

/** Returns a workload as left by another controller: with these annotations on the workload and on its pod template. */
export function leftBehind(
  name: string,
  podSpec: Record<string, unknown>,
  left: {
    readonly kind?: WorkloadKind;
    readonly annotations?: Record<string, string>;
    readonly template?: Record<string, string>;
  },
) {
  const { kind = "Deployment", annotations = {}, template = {} } = left;
  const object = workload(name, podSpec, { kind });
  Object.assign(object.metadata, { annotations });
  Object.assign(object.spec.template.metadata, { annotations: template });
  return object;
}
