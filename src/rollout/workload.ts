import type { DaemonSet, Deployment, StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import { configBaseline, configHash, schedulingDisabled, updateOnConfigChange } from "./annotations.ts";
import { extraReferences } from "./extra-references.ts";
import { mergeReferences } from "./merge-references.ts";
import { annotationMistakes } from "./mistakes.ts";
import { podReferences } from "./pod-references.ts";
import type { Reference } from "./references.ts";
import { sameJson } from "./same-json.ts";
import type { Warning } from "./warning.ts";

/** The kinds of workload that Wave rolls, all of `apps/v1`. */
export type WorkloadKind = "Deployment" | "StatefulSet" | "DaemonSet";

/** Every {@link WorkloadKind}. */
export const workloadKinds: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "DaemonSet"];

/** A workload as the API server sends it. */
export type WorkloadObject = Deployment | StatefulSet | DaemonSet;

/** Which workload is meant. */
export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** Whether a workload asks to be rolled. */
export type OptIn =
  | { readonly state: "in" }
  | { readonly state: "out" }
  | { readonly state: "unclear"; readonly value: string };

/** An annotation that was not understood. */
export type Mistake = Warning;

/** All that Wave needs to know of a workload; what caches keep. */
export interface Workload extends WorkloadName {
  /** "" while it is being created and has none yet. */
  readonly uid: string;
  /** 0 while it is being created and has none yet. */
  readonly generation: number;
  /** Of the object from which this was made, 0 where it has none: not older than anything here. Not compared. */
  readonly resourceVersion: number;
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly optIn: OptIn;
  /** What its Pods read, merged per object and way of reading, sorted; empty when it has not opted in. */
  readonly references: readonly Reference[];
  /** The hash that its pod template carries. */
  readonly recordedHash: string | undefined;
  /** The annotation with its baseline, as it is written; undefined where there is none. */
  readonly baseline: string | undefined;
  /** Whether its pod template has annotations at all; a JSON Patch needs to know. */
  readonly hasTemplateAnnotations: boolean;
  /** `spec.template.spec.schedulerName`. */
  readonly schedulerName: string | undefined;
  /** The scheduler to restore, from the annotation of the scheduling gate; undefined where there is none. */
  readonly disabledScheduler: string | undefined;
  readonly mistakes: readonly Mistake[];
}

/** The key of a workload in stores and queues: `Deployment/namespace/name`. */
export function workloadKey({ kind, namespace, name }: WorkloadName): string {
  return `${kind}/${namespace}/${name}`;
}

/** The namespace in a key as {@link workloadKey} makes it. */
export function namespaceOf(key: string): string {
  return key.slice(key.indexOf("/") + 1, key.lastIndexOf("/"));
}

/** What {@link workloadKey} was made of; throws an Error where the text is no such key. */
export function parseWorkloadKey(key: string): WorkloadName {
  const [kindName, namespace, name, ...rest] = key.split("/");
  const kind = workloadKinds.find((known) => known === kindName);
  if (kind === undefined || !namespace || !name || rest.length > 0)
    throw new Error(`"${key}" is not the key of a workload`);
  return { kind, namespace, name };
}

/**
 * The slim form of a workload. It may lack its uid and generation, and its name where it has a generateName, as during
 * its creation.
 *
 * Throws an Error that names the object where it is malformed.
 */
export function toWorkload(kind: WorkloadKind, object: WorkloadObject): Workload {
  const { namespace, name, generateName } = object.metadata ?? {};
  try {
    return slim(kind, object);
  } catch (cause) {
    const called = name ?? generateName ?? "";
    throw new Error(`${kind} "${namespace ?? ""}/${called}" is malformed: ${String(cause)}`, { cause });
  }
}

/**
 * Every reference of a workload to configuration, one for each place where it is written: its pod template's and those
 * of its `extra-…` annotations, whether it has opted in or not.
 */
export function collectReferences(object: WorkloadObject): readonly Reference[] {
  const { namespace = "", annotations = {} } = object.metadata ?? {};
  const podSpec = object.spec?.template?.spec;
  // A StatefulSet's claim takes the place of a volume of the same name.
  const claims = object.spec && "volumeClaimTemplates" in object.spec ? (object.spec.volumeClaimTemplates ?? []) : [];
  const claimed = new Set(claims.map(({ metadata }) => metadata?.name));
  const volumes = podSpec?.volumes?.filter(({ name }) => !claimed.has(name)) ?? [];
  return [
    ...(podSpec ? podReferences({ ...podSpec, volumes }, namespace) : []),
    ...extraReferences(annotations, namespace).references,
  ];
}

/** Whether nothing that Wave looks at differs between two states of one workload. */
export function sameWorkload(a: Workload, b: Workload): boolean {
  return sameJson({ ...a, resourceVersion: 0 }, { ...b, resourceVersion: 0 });
}

function slim(kind: WorkloadKind, { metadata, spec }: WorkloadObject): Workload {
  if (metadata?.namespace === undefined) throw new Error("it has no metadata.namespace");
  if (metadata.name === undefined && metadata.generateName === undefined) throw new Error("it has no metadata.name");
  if (spec?.template?.spec === undefined) throw new Error("it has no spec.template.spec");
  const annotations = metadata.annotations ?? {};
  const template = spec.template.metadata?.annotations;
  const optIn = readOptIn(annotations[updateOnConfigChange]);
  const optedIn = optIn.state === "in";
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    generation: metadata.generation ?? 0,
    resourceVersion: Number(metadata.resourceVersion ?? 0),
    deleting: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
    optIn,
    references: optedIn ? mergeReferences(collectReferences({ metadata, spec })) : [],
    recordedHash: template?.[configHash],
    baseline: annotations[configBaseline],
    hasTemplateAnnotations: template !== undefined && template !== null,
    schedulerName: spec.template.spec.schedulerName,
    disabledScheduler: annotations[schedulingDisabled],
    mistakes: [
      ...annotationMistakes(annotations, template ?? {}),
      ...(optedIn ? extraReferences(annotations, metadata.namespace).mistakes : []),
    ],
  };
}

/** Only "true" opts in: a person who writes anything else, but not what says no, is told. */
function readOptIn(value: string | undefined): OptIn {
  switch (value) {
    case "true":
      return { state: "in" };
    case undefined:
    case "false":
    case "":
      return { state: "out" };
    default:
      return { state: "unclear", value };
  }
}
