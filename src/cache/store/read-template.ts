import type { WorkloadObject, WorkloadRow } from "../../domain/model/workload.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";

/**
 * Reads the stored object with the pod template of its template source. Resolves to undefined if the object is gone.
 * Rejects if it cannot be read.
 */
export type ReadTemplate = (
  row: WorkloadRow,
  name: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
) => Promise<(KubeObject & WorkloadObject) | undefined>;
