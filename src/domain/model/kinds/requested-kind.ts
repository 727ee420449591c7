import { fieldsOf, numberOf } from "../../syntax/json.ts";
import { isDnsLabel, isDnsSubdomain } from "../../syntax/names.ts";
import { isObserved, type Progress, type WorkloadKind, type WorkloadRow } from "../kind-row.ts";
import type { WorkloadObject } from "../workload-references.ts";
import { type KnownKind, knownKinds, progressByCounts } from "./known-kinds.ts";

/** A kind of workload that `--workload-kinds` adds to the built-in kinds. Wave rolls it if the cluster has its API. */
export interface RequestedKind {
  readonly id: WorkloadKind;
  readonly group: string;
  /** Undefined: the preferred version of the API server. */
  readonly version: string | undefined;
  readonly plural: string;
  /** The JSON Pointer of its pod template. */
  readonly template: string;
}

/** ReplicaSets have the annotations of their Deployments. Wave would roll both, so it rejects this kind. */
const rejectedKind = "replicasets.apps";

/** The syntax of {@link parseRequestedKind}, as a noun phrase for people. */
export const requestedKindForms =
  "a kind such as rollouts.argoproj.io (except replicasets.apps), or group/version/resource. If the pod template is not at /spec/template, add its path: example.com/v1/widgets=/spec/podTemplate";

/**
 * Parses one kind of `--workload-kinds`: `resource.group` or `group/version/resource`, optionally followed by "=" and the path of its pod
 * template. Returns undefined if the text is invalid.
 */
export function parseRequestedKind(text: string): RequestedKind | undefined {
  const [name = "", path, ...rest] = text.trim().split("=");
  const named = rest.length > 0 ? undefined : readName(name);
  if (named === undefined) return undefined;
  const id = `${named.plural}.${named.group}`;
  if (id === rejectedKind) return undefined;
  const template = path ?? knownKinds[id]?.template ?? anyKind.template;
  return isFieldPath(template) ? { id, ...named, template } : undefined;
}

function readName(name: string): Pick<RequestedKind, "group" | "version" | "plural"> | undefined {
  const parts = name.split("/");
  const dot = name.indexOf(".");
  const [group = "", version, plural = ""] =
    parts.length === 1 ? [name.slice(dot + 1), undefined, name.slice(0, Math.max(dot, 0))] : parts;
  const isOne = parts.length === 1 || (parts.length === 3 && isVersion(version));
  return isOne && isDnsSubdomain(group) && isDnsLabel(plural) ? { group, version, plural } : undefined;
}

/** Reports whether a text is an API version (https://kubernetes.io/docs/reference/using-api/#api-versioning), by the rules of kube-aggregator. */
function isVersion(text: string | undefined): boolean {
  return /^v[1-9]\d{0,3}((alpha|beta)[1-9]\d{0,3})?$/.test(text ?? "");
}

/** Reports whether a text is a path of field names without lists. */
function isFieldPath(path: string): boolean {
  return /^(\/[A-Za-z][A-Za-z0-9_-]{0,62}){1,10}$/.test(path);
}

/** What discovery in the API server shows of a resource. */
interface DiscoveredKind {
  /** "group/version". */
  readonly apiVersion: string;
  readonly kind: string;
  /** The fields that the status of its objects may have; undefined if unknown. */
  readonly statusFields?: ReadonlySet<string> | undefined;
}

/** Returns the row of a requested kind that the cluster has. */
export function requestedKindRow(
  { id, plural, template }: RequestedKind,
  { apiVersion, kind, statusFields }: DiscoveredKind,
): WorkloadRow {
  const known: KnownKind = knownKinds[id] ?? genericKind(statusFields);
  const found = { ...known, id, apiVersion, kind, plural, namespaced: true } as const;
  return { ...found, isValidated: false, annotationsRaiseGeneration: false, template };
}

/**
 * Returns the rules of a kind that Wave has no special knowledge of. `statusFields` are the fields that the status of its objects may have,
 * if the API server shows them. The progress is computed from the fields that Deployments have too. A kind without any of these fields is
 * complete as soon as its template is written. A controller may omit a number that is 0
 * (https://pkg.go.dev/encoding/json#Marshal, `omitempty`), so a field that is in the definition but not in the status is 0.
 */
function genericKind(statusFields: ReadonlySet<string> = new Set()): KnownKind {
  return {
    template: "/spec/template",
    shortNames: [],
    keepsPendingPods: false,
    replicaSetLabel: "",
    progress: (object) => progressOfAny(object, statusFields),
  };
}

/** The rules of a kind whose status fields the API server does not show. */
export const anyKind: KnownKind = genericKind();

function progressOfAny({ metadata, spec, status }: WorkloadObject, statusFields: ReadonlySet<string>): Progress {
  const statusValues = fieldsOf(status);
  const specFields = fieldsOf(spec);
  if (specFields.paused === true) return { state: "idle" };
  const count = (name: string) => numberOf(statusValues[name]) ?? (statusFields.has(name) ? 0 : undefined);
  const { observedGeneration } = statusValues;
  const showsGeneration = observedGeneration !== undefined || statusFields.has("observedGeneration");
  const observed = !showsGeneration || isObserved(metadata?.generation, observedGeneration);
  const there = numberOf(statusValues.replicas);
  const wanted = numberOf(specFields.replicas) ?? there ?? 1;
  const updated = count("updatedReplicas") ?? (observed ? wanted : 0);
  const available = count("availableReplicas") ?? count("readyReplicas") ?? (observed ? wanted : 0);
  return progressByCounts({ observed, wanted, toUpdate: wanted, updated, available, there });
}
