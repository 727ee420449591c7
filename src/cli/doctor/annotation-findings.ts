import { standardForm } from "../../domain/model/kind-row.ts";
import { oldFinalizerWarning } from "../../domain/model/old-finalizer.ts";
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import {
  MalformedWorkload,
  toWorkload,
  type Workload,
  type WorkloadObject,
  type WorkloadRow,
} from "../../domain/model/workload.ts";
import { sourceOf } from "../../domain/model/workload-references.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { type Finding, kubectlArguments, type ObjectRef, problem, warning } from "./finding.ts";
import { misplacedAnnotations, misusedAnnotations } from "./misplaced-annotations.ts";

/** What is to be said of one object. */
export interface ObjectFindings {
  readonly mistakes: readonly Finding[];
  /** What earlier controllers, or earlier versions, left. */
  readonly leftovers: readonly Finding[];
  /** In whose dialects it asks for rolls besides Wave's own. */
  readonly askOthers: readonly OtherCompatibility[];
}

/** What the names of the annotations of others contain. */
const otherCompatibility = { sap: "pod-reloader.cs.sap.com/", stakater: "reloader.stakater.com/" } as const;

/** One of them. */
export type OtherCompatibility = keyof typeof otherCompatibility;

/** Of nearly every object. */
const nothing: ObjectFindings = { mistakes: [], leftovers: [], askOthers: [] };

/**
 * What is to be said of a workload's annotations and labels. Of gates that are left something is said only where
 * `policy` knows what Namespaces decide.
 */
export function workloadFindings(row: WorkloadRow, object: WorkloadObject, policy: Policy): ObjectFindings {
  const read = readWorkload(row, object, policy);
  if ("malformed" in read)
    return asksWave(object) ? { ...nothing, mistakes: [malformed(row, object, read.malformed)] } : nothing;
  const { workload } = read;
  const standard = standardForm(row, object);
  const place: ObjectRef = { kind: workload.kind, namespace: workload.namespace, name: workload.name };
  const noted = {
    mistakes: mistakesOnWorkload(place, workload, standard, policy),
    leftovers: leftOn(place, workload, policy),
    askOthers: asksBeside(workload, standard),
  };
  return Object.values(noted).every((each) => each.length === 0) ? nothing : noted;
}

type ReadWorkload = { readonly workload: Workload } | { readonly malformed: string };

function readWorkload(row: WorkloadRow, object: WorkloadObject, policy: Policy): ReadWorkload {
  try {
    return { workload: toWorkload(row, object, policy) };
  } catch (error) {
    if (error instanceof MalformedWorkload) return { malformed: error.message };
    throw error;
  }
}

/** What is malformed and asks for nothing is nobody's business here. */
function asksWave({ metadata }: WorkloadObject): boolean {
  return metadata?.annotations?.[updateOnConfigChange] === "true";
}

function malformed({ id }: WorkloadRow, { metadata }: WorkloadObject, what: string): Finding {
  const place: ObjectRef = { kind: id, namespace: metadata?.namespace ?? null, name: metadata?.name ?? "" };
  return problem(place, `${what}; it is not rolled`, `kubectl edit ${kubectlArguments(place)}`);
}

/** What is written on a Namespace, or on a ConfigMap or Secret, of which the metadata is enough. */
export function metadataFindings(on: "namespace" | "config", place: ObjectRef, { metadata }: Pick<KubeObject, "metadata">): ObjectFindings {
  const { annotations = {}, labels = {} } = metadata;
  const mistakes = [...misplacedAnnotations(place, { annotations, labels }), ...misusedAnnotations(on, place, annotations)];
  return mistakes.length === 0 ? nothing : { ...nothing, mistakes };
}

function mistakesOnWorkload(
  place: ObjectRef,
  workload: Workload,
  object: WorkloadObject,
  policy: Policy,
): readonly Finding[] {
  const { annotations, templateAnnotations } = sourceOf(object);
  const { labels = {} } = object.metadata ?? {};
  const unclear = workload.optIn.state === "unclear";
  const said = unclear ? planRollout(workload, () => undefined, policy).warnings : workload.mistakes;
  return [
    ...misplacedAnnotations(place, { annotations, labels, templateAnnotations }),
    ...said.map(({ message }) => problem(place, message, `kubectl edit ${kubectlArguments(place)}`)),
  ];
}

function leftOn(place: ObjectRef, workload: Workload, { ofNamespace, ownership }: Policy): readonly Finding[] {
  const edit = `kubectl edit ${kubectlArguments(place)}`;
  const migrate = "run Wave with --migrate-legacy once: docs/owner-references.md";
  const left = ofNamespace !== undefined && workload.optIn.state !== "in" && isSchedulingHeld(workload);
  const what = "its Pods stay pending: a scheduling hold of Wave's is left on it, which Wave opens where it runs";
  return [
    ...(workload.oldFinalizer && ownership === undefined ? [warning(place, oldFinalizerWarning.message, migrate)] : []),
    ...(left ? [problem(place, what, edit)] : []),
  ];
}

function asksBeside({ optIn }: Workload, object: WorkloadObject): readonly OtherCompatibility[] {
  if (optIn.state !== "in" || optIn.by === "compatibility") return [];
  const { annotations, templateAnnotations } = sourceOf(object);
  const names = [...Object.keys(annotations), ...Object.keys(templateAnnotations)];
  return (Object.keys(otherCompatibility) as OtherCompatibility[]).filter((compatibility) =>
    names.some((name) => name.includes(otherCompatibility[compatibility])),
  );
}
