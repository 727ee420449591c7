import { fieldsOf } from "../syntax/json.ts";

/**
 * Returns the Pod selector of a workload in the syntax of `kubectl -l`. Malformed parts, which a custom resource may have, are left out.
 * More Pods match then, and their owner references show which workload owns them.
 */
export function podSelector(selector: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const equal = Object.entries(fieldsOf(matchLabels)).filter(([, value]) => typeof value === "string");
  const expressions: readonly unknown[] = Array.isArray(matchExpressions) ? matchExpressions : [];
  return [...equal.map(([key, value]) => `${key}=${value}`), ...expressions.flatMap(requirementOf)].join(",");
}

/** Converts one match expression of apps/v1 (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/). */
function requirementOf(expression: unknown): readonly string[] {
  const { key, operator, values } = fieldsOf(expression);
  if (typeof key !== "string") return [];
  const listed = `(${(Array.isArray(values) ? values : []).join(",")})`;
  switch (operator) {
    case "In":
      return [`${key} in ${listed}`];
    case "NotIn":
      return [`${key} notin ${listed}`];
    case "Exists":
      return [key];
    case "DoesNotExist":
      return [`!${key}`];
    default:
      return [];
  }
}
