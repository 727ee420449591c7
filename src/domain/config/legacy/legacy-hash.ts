import { sapConfigHash } from "../../compatibility/sap.ts";
import type { Workload } from "../../model/workload.ts";
import type { WorkloadObject } from "../../model/workload-references.ts";
import type { LegacyDigest } from "./legacy-digest.ts";
import { digestOfPodReloader } from "./pod-reloader.ts";
import { digestOfWaveInGo } from "./wave-in-go.ts";

/** Returns the computation of the other controller whose annotation contains the hash of a workload. */
export function legacyDigest(
  { hashAnnotation }: Pick<Workload, "hashAnnotation">,
  object: WorkloadObject,
): LegacyDigest {
  return hashAnnotation === sapConfigHash ? digestOfPodReloader(object) : digestOfWaveInGo(object);
}
