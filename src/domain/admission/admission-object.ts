import type { DirectiveContext } from "../compatibility/directives.ts";
import { standardForm } from "../model/kind-row.ts";
import { toWorkload, type Workload, type WorkloadObject, type WorkloadRow } from "../model/workload.ts";
import type { Annotations } from "../references/wave-annotations.ts";

/** A workload object in a request, and the workload that Wave reads from it. */
export interface AdmissionObject {
  /** The object as the API server sent it. */
  readonly sent: WorkloadObject;
  /** The object in its standard form. */
  readonly object: WorkloadObject;
  readonly workload: Workload;
}

/** Reads an object in a request. Throws a {@link MalformedWorkload} that names the object if it is malformed. */
export function toAdmissionObject(
  row: WorkloadRow,
  object: WorkloadObject,
  directiveContext?: DirectiveContext,
): AdmissionObject {
  const workload = toWorkload(row, object, directiveContext);
  return { sent: object, object: standardForm(row, object), workload };
}

/** Returns the annotations of an object as its client sent them. */
export function annotationsOf({ sent }: AdmissionObject): Annotations {
  return sent.metadata?.annotations ?? {};
}
