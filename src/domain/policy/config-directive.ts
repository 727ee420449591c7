import type { CompatibilitySettings } from "../compatibility/directive.ts";
import { isMarked, stakaterIgnore } from "../compatibility/stakater.ts";
import { annotationPrefix } from "../references/annotations.ts";
import { policyRows } from "./policy-rows.ts";

/**
 * What a ConfigMap or Secret requests for its readers. "hold": no rollout for now. "ignore": no workload tracks the object. "unclear":
 * one of the two annotations is neither "true" nor "false", so that no workload rolls for the object until someone corrects it.
 * "unselected": flags filter the object out, whatever its annotations are.
 */
export type ConfigDirective = "hold" | "ignore" | "unclear" | "unselected";

/**
 * Returns what the annotations `ignore` and `hold` of a ConfigMap or Secret request, including those of the enabled compatibilities.
 * Returns undefined if they request nothing.
 */
export function readConfigDirective(
  annotations: Readonly<Record<string, string>> | null | undefined,
  compatibility?: CompatibilitySettings,
): ConfigDirective | undefined {
  if (isMarked(annotations, stakaterIgnore, compatibility)) return "ignore";
  const ignore = readSwitch(annotations?.[`${annotationPrefix}ignore`]);
  const hold = readSwitch(annotations?.[`${annotationPrefix}hold`]);
  if (ignore === "yes") return "ignore";
  if (ignore === "unclear" || hold === "unclear") return "unclear";
  return hold === "yes" ? "hold" : undefined;
}

/** Returns who holds changes of a ConfigMap or Secret, and why; "" if that is unknown. A longer text is cut, because anyone may write it. */
export function readHoldReason(annotations: Readonly<Record<string, string>> | null | undefined): string {
  return (annotations?.[`${annotationPrefix}hold-reason`] ?? "").slice(0, policyRows["hold-reason"].maxLength).trim();
}

function readSwitch(text: string | undefined): "yes" | "no" | "unclear" {
  switch (text?.trim()) {
    case "true":
      return "yes";
    case undefined:
    case "":
    case "false":
      return "no";
    default:
      return "unclear";
  }
}
