import { isOfKind, type TemplateSource } from "../model/kind-row.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import { isOptedIn } from "../policy/namespace-policy.ts";
import type { Policy } from "../policy/policy.ts";
import { allowWorkloadRef, workloadRefHash } from "../references/annotations.ts";
import { invalidAnnotationTexts, type Warning } from "../references/warning.ts";
import { equalJson } from "../syntax/json.ts";
import { isDnsSubdomain } from "../syntax/names.ts";
import { quoted } from "../syntax/wording.ts";
import { trackedReferences } from "./tracked-references.ts";
import type { Lookup } from "./view-of-references.ts";

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
  const message = isTemplateSource(templateSource)
    ? invalidAnnotationTexts.templateSourceMissing(source)
    : invalidAnnotationTexts.templateSourceUnsupported(source);
  return { reason: "InvalidAnnotation", message };
}

/**
 * Reports whether Wave may write the hash of another workload into the pod template of a Deployment. The write restarts its Pods. So the
 * Deployment has opted in, or its annotation allows the write, or it has no Pods.
 */
export function allowsWorkloadRef({ spec, metadata }: WorkloadObject, source: DecidedWorkload): boolean {
  const { replicas } = (spec ?? {}) as { readonly replicas?: number };
  if (replicas === 0 || isOptedIn(source.workload, source.policy)) return true;
  return metadata?.annotations?.[allowWorkloadRef] === "true";
}

/** A workload with its policy. */
interface DecidedWorkload {
  readonly workload: Workload;
  readonly policy: Policy;
}

/**
 * Returns the annotation of the template source that contains the hash of a workload with a workloadRef. Each workload has its
 * own policy, because their regular expressions differ. If the template source
 * has not opted in, or tracks the same objects, it is the hash annotation of the template source: then an edit changes the
 * template once. Otherwise it is a separate annotation, so that the two workloads do not overwrite each other.
 */
export function workloadRefAnnotation(
  templateSource: DecidedWorkload,
  withRef: DecidedWorkload,
  lookup: Lookup,
): string {
  const tracked = ({ workload, policy }: DecidedWorkload) => trackedReferences(workload, lookup, policy).references;
  const differs =
    isOptedIn(templateSource.workload, templateSource.policy) && !equalJson(tracked(templateSource), tracked(withRef));
  return differs ? workloadRefHash : templateSource.workload.hashAnnotation;
}
