import { kinds } from "../model/built-in-kinds.ts";
import { isOfKind } from "../model/kind-row.ts";
import type { TemplateSource, Workload } from "../model/workload.ts";
import { isIn } from "../policy/is-in.ts";
import type { Policy } from "../policy/policy.ts";
import { workloadRefHash } from "../references/annotations.ts";
import type { Warning } from "../references/warning.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { sameJson } from "../syntax/same-json.ts";
import { quoted } from "../syntax/wording.ts";
import { countedReferences } from "./tracked-references.ts";
import type { Lookup } from "./view.ts";

/**
 * The recorded hash of a borrower while its lender is written. No configuration has it. So after a crash in between a
 * roll is due, even if the edit was taken back meanwhile.
 */
export const beingRolled = `v2:${"0".repeat(64)}`;

/** Whether a pod template can be borrowed of an object of this kind and name: Wave reads those of Deployments. */
export function isTemplateSource(templateSource: TemplateSource): boolean {
  return isOfKind(templateSource, kinds.Deployment) && isDnsSubdomain(templateSource.name);
}

/** Why nothing can be decided of a workload whose pod template could not be read; undefined where there is nothing to say. */
export function unreadTemplate({ templateSource }: Pick<Workload, "templateSource">): Warning | undefined {
  if (templateSource === undefined || templateSource.generation !== undefined) return undefined;
  const what = `${quoted(templateSource.kind)} ${quoted(templateSource.name)}`;
  const why = isTemplateSource(templateSource)
    ? "and there is none of this name here"
    : "and Wave reads only those of Deployments";
  return { reason: "InvalidAnnotation", message: `is not rolled: its pod template is that of ${what}, ${why}` };
}

/**
 * The annotation of a lender's pod template that holds the hash of a borrower. It is the lender's own where the lender
 * has no hash or counts the same objects: then an edit changes the template once. Else it is one beside it, or the two
 * would write over each other.
 */
export function workloadRefAnnotation(
  templateSource: Workload,
  borrower: Workload,
  lookup: Lookup,
  policy: Policy,
): string {
  const counted = (workload: Workload) => countedReferences(workload, lookup, policy).references;
  const isOthers = isIn(templateSource, policy) && !sameJson(counted(templateSource), counted(borrower));
  return isOthers ? workloadRefHash : templateSource.hashAnnotation;
}
