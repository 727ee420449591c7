import { type AnnotationPlace, policyRows } from "./policy-rows.ts";

/** An annotation that people write. docs/annotations.md has these fields. */
export interface UserAnnotation {
  readonly places: readonly AnnotationPlace[];
  /** The allowed values, as text for people. */
  readonly allowed: string;
  /** The effect, as text for people. */
  readonly means: string;
}

/** Every annotation that people write, by name without prefix, in the order of docs/annotations.md. */
export const userAnnotations: Readonly<Record<string, UserAnnotation>> = {
  "update-on-config-change": {
    places: ["workload", "template", "namespace"],
    allowed: '"true" or "false"',
    means: "Opts the workload in, or all workloads of the Namespace.",
  },
  "extra-configmaps": {
    places: ["workload", "template"],
    allowed: "name or namespace/name, separated by commas",
    means: "ConfigMaps that the workload reads outside its pod template.",
  },
  "extra-secrets": {
    places: ["workload", "template"],
    allowed: "name or namespace/name, separated by commas",
    means: "Secrets that the workload reads outside its pod template.",
  },
  ...policyRows,
  "allow-workload-ref": {
    places: ["workload"],
    allowed: '"true"',
    means: "A Rollout with workloadRef may restart the Pods of this Deployment, which has not opted in.",
  },
  "hold-cluster": {
    places: ["namespace"],
    allowed: 'a reason, or "true"',
    means:
      "On the Namespace of Wave: stops every rollout of this Wave until the annotation is removed. Written by `wave hold --cluster`.",
  },
  ignore: {
    places: ["config"],
    allowed: '"true" or "false"',
    means: "No workload tracks this object.",
  },
  "shared-with": {
    places: ["config"],
    allowed: 'namespaces, separated by commas, or "*"',
    means: "Workloads in these namespaces may name the object in extra-configmaps or extra-secrets.",
  },
  "allow-copy-changes": {
    places: ["namespace"],
    allowed: '"true"',
    means: "Clients other than Wave may change and delete pinned copies in this Namespace.",
  },
};
