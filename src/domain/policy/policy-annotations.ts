import { annotationPrefix } from "../references/annotations.ts";
import { type PolicyAnnotation, policyAnnotations, policyRows } from "./policy-rows.ts";

export type { PolicyAnnotation } from "./policy-rows.ts";

/**
 * The annotations by which a workload, or its Namespace for all in it, decides when it is rolled, as they are written and by their
 * names without prefix. Only those that are there; {@link noPolicy} for the many that have none.
 */
export type PolicyAnnotations = Readonly<Partial<Record<PolicyAnnotation, string>>>;

/** Nothing decided. */
export const noPolicy: PolicyAnnotations = {};

/**
 * Those of an object that may stand on it, as they are written; {@link noPolicy} where there are none. One that is longer than it
 * may be is not kept in full: it cannot be read, whatever it says.
 */
export function policyAnnotationsOf(
  annotations: Readonly<Record<string, string>> | null | undefined,
  on: "workload" | "namespace",
): PolicyAnnotations {
  if (!annotations) return noPolicy;
  const found = policyAnnotations.flatMap((name) => {
    const text = annotations[annotationPrefix + name];
    const { places, most } = policyRows[name];
    return typeof text === "string" && places.includes(on) ? [[name, text.slice(0, most + 1)] as const] : [];
  });
  return found.length === 0 ? noPolicy : Object.fromEntries(found);
}
