import { isDnsLabel, isDnsSubdomain } from "../../syntax/dns-name.ts";
import type { WorkloadKind, WorkloadRow } from "../kind-row.ts";
import { anyKind, kindOf } from "./any-kind.ts";
import type { KnownKind } from "./known-kind.ts";
import { knownKinds } from "./known-kinds.ts";

/** A kind of workload that is to be rolled besides the built-in ones, wherever its API is there. */
export interface WantedKind {
  readonly id: WorkloadKind;
  readonly group: string;
  /** Undefined: the one that the API server prefers. */
  readonly version: string | undefined;
  readonly plural: string;
  /** Where its pod template is, as a JSON Pointer. */
  readonly template: string;
}

/** Of Deployments, whose annotations they carry: both would be rolled. */
const madeByOthers = "replicasets.apps";

/** How {@link readWantedKind} wants a kind to be written, to complete "… is not". */
export const wantedKindForms =
  "a kind such as rollouts.argoproj.io, and not replicasets.apps, or group/version/resource, each with the path of its pod template where that is not /spec/template: example.com/v1/widgets=/spec/podTemplate";

/**
 * Reads one kind as `--workload-kinds` names it: `resource.group` or `group/version/resource`, and after a "=" the path of its
 * pod template. Undefined where it is no such thing.
 */
export function readWantedKind(text: string): WantedKind | undefined {
  const [name = "", path, ...rest] = text.trim().split("=");
  const named = rest.length > 0 ? undefined : readName(name);
  if (named === undefined) return undefined;
  const id = `${named.plural}.${named.group}`;
  if (id === madeByOthers) return undefined;
  const template = path ?? knownKinds[id]?.template ?? anyKind.template;
  return isFieldPath(template) ? { id, ...named, template } : undefined;
}

function readName(name: string): Pick<WantedKind, "group" | "version" | "plural"> | undefined {
  const parts = name.split("/");
  const dot = name.indexOf(".");
  const [group = "", version, plural = ""] =
    parts.length === 1 ? [name.slice(dot + 1), undefined, name.slice(0, Math.max(dot, 0))] : parts;
  const isOne = parts.length === 1 || (parts.length === 3 && isVersion(version));
  return isOne && isDnsSubdomain(group) && isDnsLabel(plural) ? { group, version, plural } : undefined;
}

/** https://kubernetes.io/docs/reference/using-api/#api-versioning, as kube-aggregator takes it. */
function isVersion(text: string | undefined): boolean {
  return /^v[1-9]\d{0,3}((alpha|beta)[1-9]\d{0,3})?$/.test(text ?? "");
}

/** A way through fields by their names, and no list in it. */
function isFieldPath(path: string): boolean {
  return /^(\/[A-Za-z][A-Za-z0-9_-]{0,62}){1,10}$/.test(path);
}

/** What the API server knows of a resource. */
export interface ServedResource {
  /** "group/version". */
  readonly apiVersion: string;
  readonly kind: string;
  /** Which fields the status of its objects may have, where that is known. */
  readonly statusFields?: ReadonlySet<string> | undefined;
}

/** The row of a kind that is there. */
export function rowOf(
  { id, plural, template }: WantedKind,
  { apiVersion, kind, statusFields }: ServedResource,
): WorkloadRow {
  const known: KnownKind = knownKinds[id] ?? kindOf(statusFields);
  const found = { ...known, id, apiVersion, kind, plural, namespaced: true } as const;
  return { ...found, isValidated: false, annotationsRaiseGeneration: false, template };
}
