import { type Place, policyRows } from "./policy-rows.ts";

/** An annotation that people write. */
export interface WrittenByPeople {
  readonly places: readonly Place[];
  /** What may be written, for a person. */
  readonly allowed: string;
  /** What it does, for a person. */
  readonly means: string;
}

/** Every annotation that people write, by its name without prefix, in the order of docs/annotations.md. */
export const writtenByPeople: Readonly<Record<string, WrittenByPeople>> = {
  "update-on-config-change": {
    places: ["workload", "namespace"],
    allowed: '"true" or "false"',
    means: "opts it in, or all workloads of the Namespace",
  },
  "extra-configmaps": {
    places: ["workload"],
    allowed: "name or namespace/name, separated by commas",
    means: "ConfigMaps that it reads by other ways than its pod template",
  },
  "extra-secrets": {
    places: ["workload"],
    allowed: "name or namespace/name, separated by commas",
    means: "the same for Secrets",
  },
  ...policyRows,
  ignore: {
    places: ["config"],
    allowed: '"true" or "false"',
    means: "it never counts, for nobody",
  },
  "shared-with": {
    places: ["config"],
    allowed: 'namespaces, separated by commas, or "*"',
    means: "workloads there may name it in extra-configmaps or extra-secrets",
  },
};
