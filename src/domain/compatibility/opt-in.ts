import { updateOnConfigChange } from "../references/annotations.ts";
import { type WorkloadAnnotations, workloadFirst } from "../references/wave-annotations.ts";

/** Whether a workload has opted in, and by which means. */
export type OptIn =
  /** By the Wave annotation on the workload, its pod template or its Namespace, or only by annotations of other controllers. */
  | { readonly state: "in"; readonly by: "workload" | "namespace" | "compatibility" }
  /** `controlledBy` names the object that creates the workload. Wave then ignores the annotations of the workload. */
  | { readonly state: "out"; readonly controlledBy?: string }
  | { readonly state: "unclear"; readonly value: string };

/** Returns whether a Namespace opts its workloads in, by name; undefined if the Namespace is not known. */
export type NamespaceOptIn = ((namespace: string) => { readonly optsIn: boolean } | undefined) | undefined;

/** The few values that thousands of workloads share. */
const optIns = {
  workload: { state: "in", by: "workload" },
  namespace: { state: "in", by: "namespace" },
  out: { state: "out" },
} as const satisfies Readonly<Record<string, OptIn>>;

/** Limit of the characters of an unclear value that are kept. */
const maxKept = 300;

/**
 * Returns whether the Wave annotations opt a workload in. The annotation of the workload comes first, then that of its pod template, then its Namespace. Only
 * "true" opts in. Any value other than "true", "false" and "" is unclear, so that Wave can write a warning.
 */
export function readOptIn(source: WorkloadAnnotations, namespace: string, namespacePolicyOf: NamespaceOptIn): OptIn {
  const { value } = workloadFirst(source, updateOnConfigChange);
  switch (value) {
    case "true":
      return optIns.workload;
    case undefined:
      return namespacePolicyOf?.(namespace)?.optsIn ? optIns.namespace : optIns.out;
    case "false":
    case "":
      return optIns.out;
    default:
      return { state: "unclear", value: value.slice(0, maxKept) };
  }
}
