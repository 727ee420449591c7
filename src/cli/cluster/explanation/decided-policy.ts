import type { Workload } from "../../../domain/model/workload.ts";
import { unpaced } from "../../../domain/policy/pacing-flags.ts";
import { type PolicyAnnotation, policyAnnotations } from "../../../domain/policy/policy-rows.ts";
import type { DecidedBy } from "../../../domain/policy/rollout-policy.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";

/** One policy setting of a workload that an annotation or a flag sets, and its source. */
export interface DecidedPolicy {
  /** The annotation without its prefix, or the flag. */
  readonly name: PolicyAnnotation | "observe";
  /** The value as written. */
  readonly value: string;
  readonly by: DecidedBy;
}

/** Returns the settings that decide when a workload rolls. The workload's annotation wins over the Namespace annotation, which wins over the flag. */
export function decidedPolicy(
  { namespace, policy: own }: Pick<Workload, "namespace" | "policy">,
  { namespacePolicyOf, pacing: flags = unpaced }: Pick<KnownPolicy, "namespacePolicyOf" | "pacing">,
): readonly DecidedPolicy[] {
  const shared = namespacePolicyOf?.(namespace)?.annotations ?? {};
  const decided = policyAnnotations.flatMap((name): readonly DecidedPolicy[] => {
    if (own[name]) return [{ name, value: own[name], by: "workload" }];
    if (shared[name]) return [{ name, value: shared[name], by: "namespace" }];
    return name === "window" && flags.window !== undefined ? [{ name, value: flags.window, by: "flag" }] : [];
  });
  return flags.observe ? [{ name: "observe", value: "true", by: "flag" }, ...decided] : decided;
}
