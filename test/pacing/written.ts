import { annotationManager } from "../../src/domain/references/field-managers.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { type AuditEvent, readAuditLog } from "../control-plane/control-plane.ts";
import { until } from "../control-plane/wave-process.ts";

let asked = 0;

/** Returns all requests to the API server until now. The audit log is written a moment late. */
export async function everythingAsked(cluster: Cluster): Promise<readonly AuditEvent[]> {
  const last = `end-of-audit-${process.pid}-${asked++}`;
  await cluster.api("GET", `/api/v1/namespaces/default/configmaps/${last}`).catch(() => {});
  return await until("the audit log to be written", async () => {
    const events = readAuditLog(cluster.auditLog);
    return events.some(({ objectRef }) => objectRef?.name === last) ? events : undefined;
  });
}

/**
 * Returns the names of the Deployments of a namespace that Wave wrote, in order, once for each write. Notes on the Deployment itself, by
 * a field manager of their own, replace no Pods and do not count.
 */
export async function deploymentWrites(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const events = await everythingAsked(cluster);
  return events.flatMap(({ verb, userAgent, objectRef, requestURI, responseStatus }) => {
    const written = verb === "patch" && responseStatus?.code === 200 && userAgent?.startsWith("wave/");
    if (requestURI?.includes(`fieldManager=${annotationManager}`)) return [];
    if (!written || objectRef?.namespace !== namespace || objectRef.resource !== "deployments") return [];
    return [objectRef.name ?? ""];
  });
}

/** Returns the number of occurrences of each name, smallest first. */
export function timesEach(names: readonly string[]): readonly number[] {
  return [...Map.groupBy(names, (name) => name).values()].map(({ length }) => length).sort((a, b) => a - b);
}
