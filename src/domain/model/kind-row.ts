import { type JsonPatch, valueAt } from "../syntax/json-patch.ts";
import { readClaimTemplates, readPodTemplate } from "./pod-template-shape.ts";
import type { Progress } from "./progress.ts";
import type { WorkloadObject } from "./workload-references.ts";

/**
 * What a kind of workload is called in keys, metrics and logs, each once: `Deployment` for one of `apps/v1`, and for any other
 * its resource with its group, as a CustomResourceDefinition is named: `rollouts.argoproj.io`.
 */
export type WorkloadKind = string;

/** All that Wave knows of a kind of workload: whatever differs between kinds is told by their rows, and by nothing else. */
export interface WorkloadRow {
  readonly id: WorkloadKind;
  /** "group/version", as the API server serves it. */
  readonly apiVersion: string;
  /** Of its objects. */
  readonly kind: string;
  /** Lower case, as in paths and RBAC rules. */
  readonly plural: string;
  /** What `kubectl` takes for it besides its kind and its plural. */
  readonly shortNames: readonly string[];
  readonly namespaced: true;
  /** Where its pod template is, as a JSON Pointer. */
  readonly template: string;
  /** Whether the API server sees to it that its pod template is one; a custom resource has what its definition lets through. */
  readonly isValidated: boolean;
  /**
   * Whether an edit of annotations raises the generation, as of Deployments and of no other kind
   * (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/apps/deployment/strategy.go).
   */
  readonly annotationsRaiseGeneration: boolean;
  /** Whether it may leave Pods as they are that a scheduling gate holds, after that was opened. */
  readonly leavesHeldPods: boolean;
  /**
   * The label by which the name of a ReplicaSet between it and its Pods is told from its own; "" where its Pods are its own,
   * undefined where no Pods of it can be told.
   */
  readonly podsBy: string | undefined;
  /**
   * What makes Pods with a new hash: a run beside the schedule, or another object in its place, because pod templates of the kind
   * cannot be changed. Undefined: that it is in the pod template.
   */
  readonly rolledBy?: "run" | "replacement" | undefined;
  /** Whether an object that another one controls is left alone, as that one makes the next when it is to. */
  readonly leavesControlled?: boolean | undefined;
  /** Where the time goes at which its Pods are to be restarted, as a JSON Pointer; undefined where there is no such field. */
  readonly restartAt?: string | undefined;
  /** Where its objects may have the pod template of another object. */
  readonly borrowing?: Borrowing | undefined;
  /** Says in one line why no container would read anew what changes, and what to do; undefined where containers are started again. */
  readonly keepsContainers?: ((object: WorkloadObject) => string | undefined) | undefined;
  /** How far the rollout of an object is, as its status says it; `lender` is whose pod template it has. */
  readonly progress: (object: WorkloadObject, templateSource?: TemplateSource) => Progress;
}

/** How objects of a kind have the pod template of another object in place of one of their own. */
export interface Borrowing {
  /** Whose it is; undefined where it is the object's own. */
  readonly templateSourceOf: (object: WorkloadObject) => TemplateSource | undefined;
  /** The object as if the pod template were its own, with the generation of the lender that it was read of. */
  readonly withTemplate: (object: WorkloadObject, template: unknown, generation: number) => WorkloadObject;
}

/** An object of the same namespace whose pod template another one uses. */
export interface TemplateSource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Of which it was read; undefined before that, and where there is none of that name: then nothing is decided. */
  readonly generation: number | undefined;
  /** What the controller of the borrower knows of it: if that is something else, it is to be read again. */
  readonly known: string;
}

/** Where all code that is of no kind expects the pod template. */
const standardTemplate = "/spec/template";

/**
 * An object of a kind in the one form in which all kinds are read: with its pod template at `spec.template`. Throws an Error
 * where that is none.
 */
export function standardForm(
  { template, isValidated }: Pick<WorkloadRow, "template" | "isValidated">,
  object: WorkloadObject,
): WorkloadObject {
  if (isValidated && template === standardTemplate) return object;
  const found = valueAt(object, template);
  if (isValidated) return { ...object, spec: { ...object.spec, template: found } } as WorkloadObject;
  const { volumeClaimTemplates, ...spec } = {
    ...(object.spec as Readonly<Record<string, unknown>> | null | undefined),
  };
  const claims = readClaimTemplates(volumeClaimTemplates);
  const read = readPodTemplate(found, template.slice(1).replaceAll("/", "."));
  return {
    ...object,
    spec: { ...spec, ...(claims ? { volumeClaimTemplates: claims } : {}), template: read },
  } as WorkloadObject;
}

/** A patch of an object in its standard form as one of the object as the API server has it. */
export function patchOfKind({ template }: Pick<WorkloadRow, "template">, patch: JsonPatch): JsonPatch {
  if (template === standardTemplate) return patch;
  return patch.map((operation) => {
    const { path } = operation;
    const isInTemplate = path === standardTemplate || path.startsWith(`${standardTemplate}/`);
    return isInTemplate ? { ...operation, path: template + path.slice(standardTemplate.length) } : operation;
  });
}

/** Whether a patch of an object as the API server has it changes its pod template. */
export function changesTemplate({ template }: Pick<WorkloadRow, "template">, patch: JsonPatch): boolean {
  return patch.some(({ op, path }) => op !== "test" && (path === template || path.startsWith(`${template}/`)));
}

/** A field of an object in its standard form, as it is called in those that the API server has. */
export function fieldOfKind({ template }: Pick<WorkloadRow, "template">, field: string): string {
  return template === standardTemplate
    ? field
    : field.replace(/^spec\.template\b/, template.slice(1).replaceAll("/", "."));
}

/** What RBAC and messages call the objects of a kind: `deployments.apps`. */
export function resourceName({ apiVersion, plural }: Pick<WorkloadRow, "apiVersion" | "plural">): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? plural : `${plural}.${apiVersion.slice(0, slash)}`;
}

/** Whether something is said to be of a kind, in whatever version of its group. */
export function isOfKind(
  said: { readonly apiVersion: string; readonly kind: string },
  { apiVersion, kind }: Pick<WorkloadRow, "apiVersion" | "kind">,
): boolean {
  const group = (version: string) => version.slice(0, version.indexOf("/") + 1);
  return said.kind === kind && group(said.apiVersion) === group(apiVersion);
}
