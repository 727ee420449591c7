import type { ObjectMeta as OptionalObjectMeta, Status } from "#kubernetes";

/** A kind of object with its name in API paths. */
export interface Resource {
  /** "v1" for the core group, otherwise "group/version". */
  readonly apiVersion: string;
  readonly kind: string;
  /** Lower case, as in paths and RBAC rules. */
  readonly plural: string;
  readonly namespaced: boolean;
}

const namespaced = (apiVersion: string, kind: string): Resource => {
  return { apiVersion, kind, plural: pluralOf(kind.toLowerCase()), namespaced: true };
};
const clusterWide = (apiVersion: string, kind: string): Resource => {
  return { apiVersion, kind, plural: pluralOf(kind.toLowerCase()), namespaced: false };
};

/** Returns the plural as Kubernetes forms it for these kinds: "policies", "classes", "pods". */
function pluralOf(word: string): string {
  if (word.endsWith("y")) return `${word.slice(0, -1)}ies`;
  return word.endsWith("s") ? `${word}es` : `${word}s`;
}

/** All kinds of objects that Wave, its demo and its tests use. */
export const resources = {
  configMaps: namespaced("v1", "ConfigMap"),
  secrets: namespaced("v1", "Secret"),
  pods: namespaced("v1", "Pod"),
  services: namespaced("v1", "Service"),
  serviceAccounts: namespaced("v1", "ServiceAccount"),
  events: namespaced("v1", "Event"),
  namespaces: clusterWide("v1", "Namespace"),
  nodes: clusterWide("v1", "Node"),
  deployments: namespaced("apps/v1", "Deployment"),
  statefulSets: namespaced("apps/v1", "StatefulSet"),
  daemonSets: namespaced("apps/v1", "DaemonSet"),
  replicaSets: namespaced("apps/v1", "ReplicaSet"),
  controllerRevisions: namespaced("apps/v1", "ControllerRevision"),
  secretProviderClasses: namespaced("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass"),
  secretProviderClassPodStatuses: namespaced("secrets-store.csi.x-k8s.io/v1", "SecretProviderClassPodStatus"),
  jobs: namespaced("batch/v1", "Job"),
  leases: namespaced("coordination.k8s.io/v1", "Lease"),
  mutatingWebhookConfigurations: clusterWide("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
  mutatingAdmissionPolicies: clusterWide("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"),
  mutatingAdmissionPolicyBindings: clusterWide("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"),
  validatingAdmissionPolicies: clusterWide("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
  validatingAdmissionPolicyBindings: clusterWide("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
  subjectAccessReviews: clusterWide("authorization.k8s.io/v1", "SubjectAccessReview"),
  selfSubjectReviews: clusterWide("authentication.k8s.io/v1", "SelfSubjectReview"),
  endpointSlices: namespaced("discovery.k8s.io/v1", "EndpointSlice"),
  selfSubjectAccessReviews: clusterWide("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
} as const satisfies Record<string, Resource>;

/** Scope of a path: all objects, those of one namespace, or one object. */
interface ResourceScope {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Returns the API path of a resource: `/api/v1/secrets`, `/apis/apps/v1/namespaces/a/deployments/b`.
 * Rules: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris.
 * @throws Error if a namespaced resource has a name but no namespace.
 */
export function resourcePath(resource: Resource, { namespace, name }: ResourceScope = {}): string {
  if (resource.namespaced && name !== undefined && namespace === undefined) {
    throw new Error(`${resource.plural}/${name}: the namespace is missing`);
  }
  let path = resource.apiVersion.includes("/") ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  if (resource.namespaced && namespace !== undefined) path += `/namespaces/${encodeURIComponent(namespace)}`;
  path += `/${resource.plural}`;
  if (name !== undefined) path += `/${encodeURIComponent(name)}`;
  return path;
}

/** The objects of a permission. */
interface GrantScope {
  readonly resource: Pick<Resource, "apiVersion" | "plural" | "namespaced">;
  /** Undefined: all namespaces, or a resource without namespaces. */
  readonly namespace?: string | undefined;
  /** Undefined: all objects. */
  readonly name?: string | undefined;
}

/**
 * Returns the advice to grant verbs, such as "get and list", with the kind of role that can: "Grant get and list on secrets in namespace shop
 * with a Role", "Grant patch on namespaces with a ClusterRole (resourceNames: shop)".
 */
export function grantText(verbs: string, scope: GrantScope): string {
  const { resource, namespace, name } = scope;
  const where =
    namespace !== undefined ? ` in namespace ${namespace}` : resource.namespaced ? " in all namespaces" : "";
  const names = name === undefined ? "" : ` (resourceNames: ${name})`;
  return `Grant ${verbs} on ${rbacName(resource)}${where} with a ${roleKind(namespace)}${names}`;
}

/** Returns the kind of role that can allow something in a namespace; undefined: in all of them, or for objects without a namespace. */
export function roleKind(namespace: string | undefined): "Role" | "ClusterRole" {
  return namespace === undefined ? "ClusterRole" : "Role";
}

/** Returns the name of a resource in RBAC rules, with its group if it has one: `deployments.apps`. */
function rbacName({ apiVersion, plural }: GrantScope["resource"]): string {
  const [group, version] = apiVersion.split("/");
  return version === undefined ? plural : `${plural}.${group}`;
}

/** Metadata of a stored object. It always has a name, a uid and a resourceVersion. */
export interface ObjectMeta extends Omit<OptionalObjectMeta, "name" | "uid" | "resourceVersion"> {
  readonly name: string;
  readonly uid: string;
  /** Opaque: compare for equality only (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions). */
  readonly resourceVersion: string;
}

/** Fields of every API object. Items of a list have neither `apiVersion` nor `kind`. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** A page of a list (https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks). */
export interface KubeList<T extends KubeObject> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[] | null;
}

/** One line of a watch (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes). */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  | { readonly type: "ERROR"; readonly object: Status };

/** Media type of an object with metadata only: https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** Media type of a list whose objects have metadata only. */
export const metadataOnlyList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
