import { isDnsLabel, isDnsSubdomain } from "../../syntax/dns-name.ts";
import type { WorkloadKind, WorkloadRow } from "../kind-row.ts";
import { anyKind, genericKind } from "./generic-kind.ts";
import type { KnownKind } from "./kind-rules.ts";
import { knownKinds } from "./known-kinds.ts";

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
export interface DiscoveredKind {
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
