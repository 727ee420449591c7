import { annotationPrefix } from "../references/annotations.ts";
import { type PolicyAnnotation, policyAnnotations, policyRows } from "./policy-rows.ts";

export type { PolicyAnnotation } from "./policy-rows.ts";

/**
 * The policy annotations of a workload or Namespace: raw values by name without prefix. Has only the annotations that are present. Is
 * {@link noPolicy} for the many objects without any.
 */
export type PolicyAnnotations = Readonly<Partial<Record<PolicyAnnotation, string>>>;

/** The shared value for objects without policy annotations. */
export const noPolicy: PolicyAnnotations = {};

/**
 * Returns the policy annotations that apply to an object; {@link noPolicy} if there are none. Those of a workload come before those of its
 * pod template. Cuts a value that exceeds its maximum length, because such a value is invalid in any case.
 */
export function policyAnnotationsOf(
  annotations: Readonly<Record<string, string>> | null | undefined,
  on: "workload" | "namespace",
  template?: Readonly<Record<string, string>> | null,
): PolicyAnnotations {
  if (!annotations && !template) return noPolicy;
  let found: { [Name in PolicyAnnotation]?: string } | undefined;
  for (const { name, annotation, maxLength, isOnTemplate } of annotationsOn[on]) {
    const own = annotations?.[annotation];
    // An empty annotation is not set.
    const text = isOnTemplate && !own?.trim() ? (template?.[annotation] ?? own) : own;
    if (typeof text !== "string") continue;
    found ??= {};
    found[name] = text.slice(0, maxLength + 1);
  }
  return found ?? noPolicy;
}

/** The policy annotations that apply in each place. Thousands of workloads are parsed for them. */
const annotationsOn = { workload: inPlace("workload"), namespace: inPlace("namespace") };

function inPlace(place: "workload" | "namespace") {
  return policyAnnotations
    .filter((name) => policyRows[name].places.includes(place))
    .map((name) => {
      const { maxLength, places: each } = policyRows[name];
      return { name, annotation: annotationPrefix + name, maxLength, isOnTemplate: each.includes("template") };
    });
}

/** Returns the policy annotations of at most `maxLength` characters; {@link noPolicy} if there are none. */
export function shortPolicyAnnotations(policy: PolicyAnnotations, maxLength: number): PolicyAnnotations {
  const short = Object.entries(policy).filter(([, text]) => text.length <= maxLength);
  return short.length === 0 ? noPolicy : Object.fromEntries(short);
}
