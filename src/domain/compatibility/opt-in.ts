import { updateOnConfigChange } from "../references/annotations.ts";
import type { Annotations } from "../references/wave-annotations.ts";

/** Whether a workload asks to be rolled. */
export type OptIn =
  /** By Wave's annotation on it or its Namespace; or by annotations of another dialect alone. */
  | { readonly state: "in"; readonly by: "workload" | "namespace" | "compatibility" }
  /** Or another object makes it, whatever it asks for itself. */
  | { readonly state: "out"; readonly madeBy?: string }
  | { readonly state: "unclear"; readonly value: string };

/** What a Namespace decides, by its name. */
export type OfNamespace = ((namespace: string) => { readonly optsIn: boolean } | undefined) | undefined;

/** One object for each of the few answers that thousands of workloads share. */
const answers = {
  workload: { state: "in", by: "workload" },
  namespace: { state: "in", by: "namespace" },
  out: { state: "out" },
} as const satisfies Readonly<Record<string, OptIn>>;

/** How much of an unclear value is kept. */
const mostKept = 300;

/**
 * Whether a workload with these annotations has opted in: what it says itself counts, and where it says nothing its
 * Namespace does. Only "true" opts in: a person who writes anything else, but not what says no, is told.
 */
export function readOptIn(annotations: Annotations, namespace: string, ofNamespace: OfNamespace): OptIn {
  const value = annotations[updateOnConfigChange];
  switch (value) {
    case "true":
      return answers.workload;
    case undefined:
      return ofNamespace?.(namespace)?.optsIn ? answers.namespace : answers.out;
    case "false":
    case "":
      return answers.out;
    default:
      return { state: "unclear", value: value.slice(0, mostKept) };
  }
}
