import type { PodSpec, VolumeProjection } from "#kubernetes";
import { describeKeptPods } from "../../../domain/model/kept-pods.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../../../domain/model/scheduling-hold.ts";
import type { Workload, WorkloadObject } from "../../../domain/model/workload.ts";
import { quoted } from "../../../domain/syntax/wording.ts";

/**
 * Returns other settings of the workload that decide when its Pods are replaced, one line each. They explain why Kubernetes replaced
 * no Pod.
 */
export function workloadNotes(object: WorkloadObject, workload: Workload): readonly string[] {
  return [
    ...templateSourceNotes(workload),
    ...untrackedProjectionNotes(object),
    ...(workload.keptPods === undefined ? [] : [describeKeptPods(workload.keptPods)]),
    ...schedulingHoldNotes(workload),
  ];
}

function templateSourceNotes({ templateSource }: Workload): readonly string[] {
  return templateSource === undefined
    ? []
    : [`The pod template comes from ${quoted(templateSource.kind)} ${quoted(templateSource.name)} (workloadRef).`];
}

function schedulingHoldNotes(workload: Workload): readonly string[] {
  if (isSchedulingHeld(workload)) return ["The workload has a scheduling hold. New Pods stay pending."];
  return hasSchedulingHold(workload)
    ? ["Another client ended the scheduling hold, but did not remove its annotation."]
    : [];
}

/** Returns one line for each volume with certificates that Pods read and Wave does not track. The kubelet updates their files. */
function untrackedProjectionNotes({ spec }: WorkloadObject): readonly string[] {
  const { volumes = [] }: Pick<PodSpec, "volumes"> = spec?.template?.spec ?? {};
  return volumes.flatMap(({ name, projected }) => {
    const kinds = new Set((projected?.sources ?? []).flatMap((source) => kindOf(source) ?? []));
    return [...kinds].map(
      (kind) =>
        `Wave does not track the ${kind} projections of volume ${quoted(name)}. Their changes start no rollout.`,
    );
  });
}

/** https://kubernetes.io/docs/concepts/storage/projected-volumes/ */
function kindOf(source: VolumeProjection): string | undefined {
  if (source.clusterTrustBundle) return "ClusterTrustBundle";
  return source.podCertificate ? "PodCertificate" : undefined;
}
