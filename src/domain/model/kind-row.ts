import { type JsonPatch, numberOf, valueAtPointer } from "../syntax/json.ts";
import type { WorkloadObject } from "./workload-references.ts";

/**
 * The id of a kind of workload in keys, metrics and logs: `Deployment` and the like for `apps/v1`. For any other kind the resource with its
 * group, which is the name of its CustomResourceDefinition: `rollouts.argoproj.io`.
 */
export type WorkloadKind = string;

/** Everything that Wave knows of a kind of workload. All differences between kinds are fields of their rows. */
export interface WorkloadRow {
  readonly id: WorkloadKind;
  /** "group/version" that the API server serves. */
  readonly apiVersion: string;
  /** The `kind` field of its objects. */
  readonly kind: string;
  /** The resource name in paths and RBAC rules, lower case. */
  readonly plural: string;
  /** Other names that `kubectl` accepts. */
  readonly shortNames: readonly string[];
  readonly namespaced: true;
  /** The JSON Pointer of its pod template. */
  readonly template: string;
  /** Whether the API server validates the pod template. A custom resource may have any content that its definition allows. */
  readonly isValidated: boolean;
  /**
   * Whether an edit of annotations raises the generation. True for Deployments only
   * (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/apps/deployment/strategy.go).
   */
  readonly annotationsRaiseGeneration: boolean;
  /** Whether workloads of the kind are the canary of a change before all other kinds: their Pods have no identity and no node of their own. */
  readonly rollsFirst?: boolean | undefined;
  /** Whether the kind may keep pending Pods after Wave lifts a scheduling hold. */
  readonly keepsPendingPods: boolean;
  /**
   * The label that distinguishes the name of a ReplicaSet from the name of its workload. "" if Pods belong directly to the workload. Undefined
   * if the Pods of the kind are not known.
   */
  readonly replicaSetLabel: string | undefined;
  /** The strategy of the kind if a change of the pod template does not replace Pods. Default: "template". */
  readonly strategy?: "run" | "replacement" | undefined;
  /** Whether Wave ignores objects that have a controller, because that controller creates the next one. */
  readonly skipsControlled?: boolean | undefined;
  /** The JSON Pointer of the time when Pods are to be restarted; undefined if the kind has no such field. */
  readonly restartAt?: string | undefined;
  /** The rules of workloadRef, if objects of the kind may use the pod template of another object. */
  readonly workloadRef?: WorkloadRefRules | undefined;
  /** Returns one line that says why an update in place makes no container read new configuration, and what to do. Undefined if it does. */
  readonly inPlaceUpdateMistake?: ((object: WorkloadObject) => string | undefined) | undefined;
  /** Returns the progress of the rollout of an object from its status. */
  readonly progress: (object: WorkloadObject, templateSource?: TemplateSource) => Progress;
}

/** How objects of a kind use the pod template of another object. */
interface WorkloadRefRules {
  /** Returns the template source of an object; undefined if the object has its own pod template. */
  readonly templateSourceOf: (object: WorkloadObject) => TemplateSource | undefined;
  /** Returns the object with the pod template of the template source. `generation` is that of the template source when it was read. */
  readonly withTemplate: (object: WorkloadObject, template: unknown, generation: number) => WorkloadObject;
}

/** An object whose pod template another workload in the same namespace uses. */
export interface TemplateSource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** The generation that was read; undefined before the read, and if the object does not exist. Wave then decides nothing. */
  readonly generation: number | undefined;
  /** What the controller of the workload has observed of the template source. If it changes, Wave reads the source again. */
  readonly observed: string;
}

/** The JSON Pointer of the pod template in the standard form. */
const standardTemplate = "/spec/template";

/**
 * Returns an object in the standard form, with the pod template at `spec.template`. Throws an Error if the pod template is
 * malformed.
 */
export function standardForm(
  { template, isValidated }: Pick<WorkloadRow, "template" | "isValidated">,
  object: WorkloadObject,
): WorkloadObject {
  if (isValidated && template === standardTemplate) return object;
  const found = valueAtPointer(object, template);
  if (isValidated) return { ...object, spec: { ...object.spec, template: found } } as WorkloadObject;
  const { volumeClaimTemplates, ...spec } = {
    ...(object.spec as Readonly<Record<string, unknown>> | null | undefined),
  };
  const claims = read(claimTemplates, volumeClaimTemplates, "spec.volumeClaimTemplates");
  const podTemplate = read(podTemplateShape, found, template.slice(1).replaceAll("/", "."));
  return {
    ...object,
    spec: { ...spec, ...(claims ? { volumeClaimTemplates: claims } : {}), template: podTemplate },
  } as WorkloadObject;
}

/** Converts a patch of the standard form to a patch of the object in the API server. */
export function patchOfKind({ template }: Pick<WorkloadRow, "template">, patch: JsonPatch): JsonPatch {
  if (template === standardTemplate) return patch;
  return patch.map((operation) => {
    const { path } = operation;
    const isInTemplate = path === standardTemplate || path.startsWith(`${standardTemplate}/`);
    return isInTemplate ? { ...operation, path: template + path.slice(standardTemplate.length) } : operation;
  });
}

/** Reports whether a patch of the object in the API server changes its pod template. */
export function changesTemplate({ template }: Pick<WorkloadRow, "template">, patch: JsonPatch): boolean {
  return patch.some(({ op, path }) => op !== "test" && (path === template || path.startsWith(`${template}/`)));
}

/** Converts the path of a field in the standard form to the path in the API server. */
export function fieldOfKind({ template }: Pick<WorkloadRow, "template">, field: string): string {
  return template === standardTemplate
    ? field
    : field.replace(/^spec\.template\b/, template.slice(1).replaceAll("/", "."));
}

/** Returns the resource with its group for RBAC and messages: `deployments.apps`. */
export function resourceName({ apiVersion, plural }: Pick<WorkloadRow, "apiVersion" | "plural">): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? plural : `${plural}.${apiVersion.slice(0, slash)}`;
}

/** Reports whether a reference names a kind, in any version of its group. */
export function isOfKind(
  reference: { readonly apiVersion: string; readonly kind: string },
  { apiVersion, kind }: Pick<WorkloadRow, "apiVersion" | "kind">,
): boolean {
  const group = (version: string) => version.slice(0, version.indexOf("/") + 1);
  return reference.kind === kind && group(reference.apiVersion) === group(apiVersion);
}

/** The type of a value, as far as Wave reads it. */
type Shape =
  | "string"
  | "boolean"
  | { readonly items: Shape }
  | { readonly values: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

const fields = (of: Readonly<Record<string, Shape>>): Shape => ({ fields: of });
const listOf = (of: Readonly<Record<string, Shape>>): Shape => ({ items: fields(of) });

const whole = fields({ name: "string", optional: "boolean" });
const one = fields({ name: "string", key: "string", optional: "boolean" });
const items = listOf({ key: "string", path: "string" });
const files = fields({ name: "string", optional: "boolean", items });
const container = listOf({
  envFrom: listOf({ configMapRef: whole, secretRef: whole }),
  env: listOf({ valueFrom: fields({ configMapKeyRef: one, secretKeyRef: one }) }),
  volumeMounts: listOf({ name: "string", subPath: "string" }),
});

/** https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#podtemplatespec-v1-core */
const podTemplateShape = fields({
  metadata: fields({ annotations: { values: "string" } }),
  spec: fields({
    schedulerName: "string",
    initContainers: container,
    containers: container,
    volumes: listOf({
      name: "string",
      configMap: files,
      secret: fields({ secretName: "string", optional: "boolean", items }),
      projected: fields({ sources: listOf({ configMap: files, secret: files }) }),
      csi: fields({ driver: "string", volumeAttributes: { values: "string" } }),
    }),
  }),
});

const claimTemplates = listOf({ metadata: fields({ name: "string" }) });

/**
 * Validates a value that no API server has validated, such as a field of a custom resource. Returns the value with null fields removed,
 * because decoders treat null as absent (https://pkg.go.dev/encoding/json#Unmarshal). Returns undefined if the value is missing.
 * Throws an Error that names the path, but quotes no value, if a field that Wave reads has another type.
 */
function read(shape: Shape, value: unknown, path: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof shape === "string") return typeof value === shape ? value : isNot(`a ${shape}`, path);
  if ("items" in shape) {
    if (!Array.isArray(value)) return isNot("a list", path);
    return value.map((each, i) => read(shape.items, each, `${path}[${i}]`) ?? isNot("an object", `${path}[${i}]`));
  }
  if (typeof value !== "object" || Array.isArray(value)) return isNot("an object", path);
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const inside =
      "values" in shape ? shape.values : Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (inside === undefined) return [[name, each]];
    // The keys of a map are user data, so the message does not quote them.
    const found = read(inside, each, "values" in shape ? `a value of ${path}` : `${path}.${name}`);
    return found === undefined ? [] : [[name, found]];
  });
  return Object.fromEntries(entries);
}

function isNot(what: string, path: string): never {
  throw new Error(`${path} is not ${what}`);
}

/** The progress of the rollout of a workload, from its status. */
export type Progress =
  /** A rollout replaces no Pod: there are no Pods, or it does not start by itself (paused, `OnDelete`, a partition of all Pods). */
  | { readonly state: "idle" }
  /** Every Pod that the rollout replaces is replaced. */
  | {
      readonly state: "complete";
      /** When the rollout completed, in seconds since the epoch; undefined if the status does not show it. */
      readonly since: number | undefined;
    }
  | {
      readonly state: "progressing";
      /** A number that changes when a Pod is replaced or becomes available. */
      readonly step: number;
      /** The number of available Pods, including old ones. */
      readonly available: number;
      /** Whether the rollout of an earlier generation is complete, and the status does not show the current generation yet. */
      readonly wasComplete?: true;
      /** Whether the rollout was complete, and has lost Pods since. Default: the status does not show it. */
      readonly lostPods?: boolean;
      /** Since when it has had too few available Pods, in seconds since the epoch. Default: it has enough, or the status does not show it. */
      readonly unavailableSince?: number;
      /** The Pod that Kubernetes waits for before it replaces other Pods in order; absent if it does not wait, or it is not known. */
      readonly waitsFor?: string;
      /** Whether the controller of the workload has its own deadline and knows about intended pauses. Wave then has no deadline. */
      readonly selfTimed?: boolean;
    }
  | {
      readonly state: "failed";
      /** The word in the status that reports the failure; undefined: `ProgressDeadlineExceeded`. */
      readonly statusWord?: string;
    };

/** Reports whether a workload is complete now, so that a rollout that fails after this moment shows that the change is bad. */
export function isComplete({ progress }: { readonly progress: Progress }): boolean {
  return progress.state === "complete" || (progress.state === "progressing" && progress.wasComplete === true);
}

/** Reports whether a status reflects the current spec. The observed generation may be a number or a text. */
export function isObserved(generation: number | undefined, observed: unknown): boolean {
  const seen = typeof observed === "string" ? Number(observed) : (numberOf(observed) ?? 0);
  return seen > 0 && seen >= (generation ?? 0);
}
