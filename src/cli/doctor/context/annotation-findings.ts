import type { Compatibility } from "../../../domain/compatibility/directive.ts";
import { standardForm } from "../../../domain/model/kind-row.ts";
import { oldFinalizerWarning } from "../../../domain/model/old-finalizer.ts";
import { isSchedulingHeld } from "../../../domain/model/scheduling-hold.ts";
import {
  MalformedWorkload,
  toWorkload,
  type Workload,
  type WorkloadObject,
  type WorkloadRow,
} from "../../../domain/model/workload.ts";
import { compatibilitySourceOf } from "../../../domain/model/workload-references.ts";
import { planRollout } from "../../../domain/plan/plan.ts";
import { misplacedLabels } from "../../../domain/policy/annotation-mistakes.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/cluster-policy.ts";
import { updateOnConfigChange } from "../../../domain/references/annotations.ts";
import { invalidAnnotationTexts } from "../../../domain/references/warning-texts.ts";
import { workloadFirst } from "../../../domain/references/wave-annotations.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { docsAddress } from "../../command/docs-pages.ts";
import { sentences } from "../../output/sentences.ts";
import { type Finding, kubectlArguments, type ObjectRef, problem, warning } from "./finding.ts";
import { misplacedAnnotations, misusedAnnotations } from "./misplaced-annotations.ts";

/** The findings about one object: mistakes in its annotations and labels, and leftovers. */
export interface ObjectFindings {
  readonly mistakes: readonly Finding[];
  /** What earlier controllers or earlier versions of Wave left behind. */
  readonly leftovers: readonly Finding[];
  /** Other controllers whose annotations the object also has. */
  readonly otherControllers: readonly OtherCompatibility[];
}

/** What annotation names of other controllers contain. */
const otherCompatibility = { sap: "pod-reloader.cs.sap.com/", stakater: "reloader.stakater.com/" } as const;

/** Another controller whose annotations Wave can understand. */
export type OtherCompatibility = keyof typeof otherCompatibility;

/** The findings about nearly every object, shared to save memory. */
const nothing: ObjectFindings = { mistakes: [], leftovers: [], otherControllers: [] };

/**
 * Returns the findings about the annotations and labels of a workload. Scheduling holds that are left over are found only if `policy` knows
 * the annotations of Namespaces.
 */
export function workloadFindings(row: WorkloadRow, object: WorkloadObject, policy: ClusterPolicy): ObjectFindings {
  const read = readWorkload(row, object, policy);
  if ("malformed" in read)
    return optsIn(object) ? { ...nothing, mistakes: [malformed(row, object, read.malformed)] } : nothing;
  const { workload } = read;
  const standard = standardForm(row, object);
  const ref: ObjectRef = { kind: workload.kind, namespace: workload.namespace, name: workload.name };
  const findings = {
    mistakes: mistakesOnWorkload(ref, workload, standard, policy),
    leftovers: leftoversOn(ref, workload, policy),
    otherControllers: controllersIn(workload, standard),
  };
  return Object.values(findings).every((each) => each.length === 0) ? nothing : findings;
}

type ReadWorkload = { readonly workload: Workload } | { readonly malformed: string };

function readWorkload(row: WorkloadRow, object: WorkloadObject, policy: ClusterPolicy): ReadWorkload {
  try {
    return { workload: toWorkload(row, object, policy) };
  } catch (error) {
    if (error instanceof MalformedWorkload) return { malformed: error.message };
    throw error;
  }
}

/** A malformed workload matters only if it opts in. */
function optsIn(object: WorkloadObject): boolean {
  return workloadFirst(compatibilitySourceOf(object), updateOnConfigChange).value === "true";
}

function malformed({ id }: WorkloadRow, { metadata }: WorkloadObject, what: string): Finding {
  const ref: ObjectRef = { kind: id, namespace: metadata?.namespace ?? null, name: metadata?.name ?? "" };
  return problem(ref, sentences(what, "Wave does not roll the workload"), `kubectl edit ${kubectlArguments(ref)}`);
}

/** Returns the findings about the metadata of a Namespace, ConfigMap or Secret. */
export function metadataFindings(
  on: "namespace" | "config",
  place: ObjectRef,
  { metadata }: Pick<KubeObject, "metadata">,
  understood?: readonly Compatibility[],
): ObjectFindings {
  const { annotations = {}, labels = {} } = metadata;
  const mistakes = [
    ...misplacedAnnotations(place, { annotations, labels }),
    ...misusedAnnotations(on, place, annotations, understood),
  ];
  return mistakes.length === 0 ? nothing : { ...nothing, mistakes };
}

function mistakesOnWorkload(
  place: ObjectRef,
  workload: Workload,
  object: WorkloadObject,
  policy: ClusterPolicy,
): readonly Finding[] {
  const { annotations, templateAnnotations } = compatibilitySourceOf(object);
  const { labels = {} } = object.metadata ?? {};
  // The findings about labels have a command that corrects them.
  const aboutLabels = new Set(misplacedLabels(labels).map(invalidAnnotationTexts.label));
  const unclear = workload.optIn.state === "unclear";
  const warnings = unclear
    ? planRollout(workload, () => undefined, policyFor(workload, policy)).warnings
    : workload.mistakes;
  return [
    ...misplacedAnnotations(place, { annotations, labels, templateAnnotations }),
    ...warnings
      .filter(({ message }) => !aboutLabels.has(message))
      .map(({ message }) => problem(place, sentences(message), `kubectl edit ${kubectlArguments(place)}`)),
  ];
}

function leftoversOn(
  place: ObjectRef,
  workload: Workload,
  { namespacePolicyOf, ownership }: ClusterPolicy,
): readonly Finding[] {
  const release = `wave release --scheduling-holds -n ${place.namespace}`;
  const migrate = `Run Wave once with --migrate-legacy: ${docsAddress("gitops", "owner-references")}`;
  const left = namespacePolicyOf !== undefined && workload.optIn.state !== "in" && isSchedulingHeld(workload);
  const what =
    "New Pods stay pending, because a scheduling hold of Wave is left over. Wave removes the hold when Wave runs.";
  return [
    ...(workload.oldFinalizer && ownership === undefined
      ? [warning(place, sentences(oldFinalizerWarning.message), migrate)]
      : []),
    ...(left ? [problem(place, what, release)] : []),
  ];
}

function controllersIn({ optIn }: Workload, object: WorkloadObject): readonly OtherCompatibility[] {
  if (optIn.state !== "in" || optIn.by === "compatibility") return [];
  const { annotations, templateAnnotations } = compatibilitySourceOf(object);
  const names = [...Object.keys(annotations), ...Object.keys(templateAnnotations)];
  return (Object.keys(otherCompatibility) as OtherCompatibility[]).filter((compatibility) =>
    names.some((name) => name.includes(otherCompatibility[compatibility])),
  );
}
