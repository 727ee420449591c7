import { kinds } from "../model/built-in-kinds.ts";
import { isOfKind } from "../model/kind-row.ts";
import type { TemplateSource, Workload } from "../model/workload.ts";
import { isOptedIn } from "../policy/opted-in.ts";
import type { Policy } from "../policy/policy.ts";
import { workloadRefHash } from "../references/annotations.ts";
import type { Warning } from "../references/warning.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { equalJson } from "../syntax/equal-json.ts";
import { quoted } from "../syntax/wording.ts";
import { trackedReferences } from "./tracked-references.ts";
import type { Lookup } from "./view.ts";

/**
 * The recorded hash of a workload while Wave writes its template source. No configuration has this hash. So after a crash
 * between the two writes a rollout is due, even if the edit was reverted meanwhile.
 */
export const rollInProgress = `v2:${"0".repeat(64)}`;

/** Reports whether Wave can read the pod template of an object of this kind and name: only Deployments are supported. */
export function isTemplateSource(templateSource: TemplateSource): boolean {
  return isOfKind(templateSource, kinds.Deployment) && isDnsSubdomain(templateSource.name);
}

/** Returns the warning for a workload whose template source could not be read; undefined if it could. */
export function missingTemplateWarning({ templateSource }: Pick<Workload, "templateSource">): Warning | undefined {
  if (templateSource === undefined || templateSource.generation !== undefined) return undefined;
  const source = `${quoted(templateSource.kind)} ${quoted(templateSource.name)}`;
  const cause = isTemplateSource(templateSource)
    ? "does not exist in this namespace. Create it."
    : "is not a Deployment. Wave reads only the pod templates of Deployments.";
  return { reason: "InvalidAnnotation", message: `Not rolled. The template source ${source} ${cause}` };
}

/**
 * Returns the annotation of the template source that contains the hash of a workload with a workloadRef. If the template source
 * has not opted in, or tracks the same objects, it is the hash annotation of the template source: then an edit changes the
 * template once. Otherwise it is a separate annotation, so that the two workloads do not overwrite each other.
 */
export function workloadRefAnnotation(
  templateSource: Workload,
  workload: Workload,
  lookup: Lookup,
  policy: Policy,
): string {
  const tracked = (each: Workload) => trackedReferences(each, lookup, policy).references;
  const differs = isOptedIn(templateSource, policy) && !equalJson(tracked(templateSource), tracked(workload));
  return differs ? workloadRefHash : templateSource.hashAnnotation;
}
