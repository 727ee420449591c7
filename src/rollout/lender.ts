import { isDnsSubdomain } from "./dns-name.ts";
import { kinds } from "./kinds.ts";
import type { Warning } from "./warning.ts";
import { quoted } from "./wording.ts";
import type { Lender, Workload } from "./workload.ts";
import { isOfKind } from "./workload-row.ts";

/** Whether a pod template can be borrowed of an object of this kind and name: Wave reads those of Deployments. */
export function canLend(lender: Lender): boolean {
  return isOfKind(lender, kinds.Deployment) && isDnsSubdomain(lender.name);
}

/** Why nothing can be decided of a workload whose pod template could not be read; undefined where there is nothing to say. */
export function unreadTemplate({ lender }: Pick<Workload, "lender">): Warning | undefined {
  if (lender === undefined || lender.generation !== undefined) return undefined;
  const what = `${quoted(lender.kind)} ${quoted(lender.name)}`;
  const why = canLend(lender) ? "and there is none of this name here" : "and Wave reads only those of Deployments";
  return { reason: "InvalidAnnotation", message: `is not rolled: its pod template is that of ${what}, ${why}` };
}
