import type { WorkloadObject, WorkloadRow } from "../../domain/model/workload.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";

/**
 * Reads an object as it is stored now, with the pod template that it borrows. Resolves to undefined if the object is gone; rejects
 * if it cannot be read.
 */
export type ReadTemplate = (
  row: WorkloadRow,
  name: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
) => Promise<(KubeObject & WorkloadObject) | undefined>;
