import { configKey, type Reference } from "../../../domain/references/references.ts";
import { formatCount } from "../../../domain/syntax/wording.ts";
import type { ReadConfig } from "../../cluster/read/configs.ts";
import type { WorkloadSnapshot } from "../../cluster/snapshot/workload-snapshot.ts";
import { type Finding, type ObjectRef, warning } from "../context/finding.ts";

const newName = "Store new content under a new name. Pinned configuration does this for ConfigMaps: wave help pinning";

/**
 * Finds immutable objects that are newer than Pods that read them: someone deleted an object and created it again. A node does not watch
 * immutable objects. As long as a Pod on the node uses the object, new Pods on this node may read the old content
 * (https://github.com/kubernetes/kubernetes/issues/119733).
 */
export function recreatedObjectFindings(snapshots: readonly WorkloadSnapshot[]): readonly Finding[] {
  const found = new Map<string, { readonly where: ObjectRef; pods: number }>();
  for (const snapshot of snapshots) {
    const { workload } = snapshot.found;
    for (const reference of workload.references) {
      const pods = olderPods(snapshot, reference);
      if (pods === 0) continue;
      const { kind, namespace, name } = reference;
      const key = configKey(reference);
      const entry = found.get(key) ?? { where: { kind, namespace, name }, pods: 0 };
      entry.pods += pods;
      found.set(key, entry);
    }
  }
  return Array.from(found.values(), ({ where, pods }) => {
    const older = pods === 1 ? "1 Pod that reads it is" : `${formatCount(pods)} Pods that read it are`;
    const what = `This immutable object was deleted and created again: ${older} older. New Pods on the same node may read the old content.`;
    return warning(where, what, newName);
  });
}

/** Counts the Pods that could only start with an earlier object of this name: Wave writes no hash while a required object is missing. */
function olderPods({ found, read, pods }: WorkloadSnapshot, reference: Reference): number {
  const since = immutableSince(read.get(configKey(reference)));
  if (since === undefined || reference.optional || reference.annotation !== undefined || pods.state !== "read")
    return 0;
  const key = configKey(reference);
  return pods
    .of(found.workload)
    .filter(
      ({ hash, startedAt, files, env }) =>
        hash !== undefined && 0 < startedAt && startedAt < since && (files.has(key) || env.has(key)),
    ).length;
}

function immutableSince(read: ReadConfig | undefined): number | undefined {
  return read?.state === "present" ? read.immutableSince : undefined;
}
