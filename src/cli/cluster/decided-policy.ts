import type { Workload } from "../../domain/model/workload.ts";
import { unpaced } from "../../domain/policy/pacing-flags.ts";
import { type PolicyAnnotation, policyAnnotations } from "../../domain/policy/policy-rows.ts";
import type { Source } from "../../domain/policy/rollout-policy.ts";
import type { KnownPolicy } from "./inherited-flags.ts";

/** A part of the policy of a workload that somebody decided, and who. */
export interface DecidedPolicy {
  /** The annotation without its prefix, or the flag. */
  readonly name: PolicyAnnotation | "observe";
  /** As it is written. */
  readonly value: string;
  readonly by: Source;
}

/** What annotations and flags decide about when a workload is rolled: its own, else those of its Namespace, else the flags. */
export function decidedPolicy(
  { namespace, policy: own }: Pick<Workload, "namespace" | "policy">,
  { ofNamespace, pacing: flags = unpaced }: Pick<KnownPolicy, "ofNamespace" | "pacing">,
): readonly DecidedPolicy[] {
  const shared = ofNamespace?.(namespace)?.annotations ?? {};
  const decided = policyAnnotations.flatMap((name): readonly DecidedPolicy[] => {
    if (own[name]) return [{ name, value: own[name], by: "workload" }];
    if (shared[name]) return [{ name, value: shared[name], by: "namespace" }];
    return name === "window" && flags.window !== undefined ? [{ name, value: flags.window, by: "flag" }] : [];
  });
  return flags.observe ? [{ name: "observe", value: "true", by: "flag" }, ...decided] : decided;
}
