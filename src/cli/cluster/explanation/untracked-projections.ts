import type { PodSpec, VolumeProjection } from "#kubernetes";
import type { WorkloadObject } from "../../../domain/model/workload.ts";
import { quoted } from "../../../domain/syntax/wording.ts";

/** Returns one line for each volume with certificates that Pods read and Wave does not track. The kubelet updates their files. */
export function untrackedProjectionNotes({ spec }: WorkloadObject): readonly string[] {
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
