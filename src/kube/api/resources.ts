/** A kind of object as the API server's paths name it. */
export interface Resource {
  /** "v1" for the core group, else "group/version". */
  readonly apiVersion: string;
  readonly kind: string;
  /** Lower case, as in paths and RBAC rules. */
  readonly plural: string;
  readonly namespaced: boolean;
}

const namespaced = (apiVersion: string, kind: string, plural: string): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
});
const clusterWide = (apiVersion: string, kind: string, plural: string): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced: false,
});

/** Every kind of object that Wave, its demo or its tests speak of to an API server. */
export const resources = {
  configMaps: namespaced("v1", "ConfigMap", "configmaps"),
  secrets: namespaced("v1", "Secret", "secrets"),
  pods: namespaced("v1", "Pod", "pods"),
  services: namespaced("v1", "Service", "services"),
  serviceAccounts: namespaced("v1", "ServiceAccount", "serviceaccounts"),
  events: namespaced("v1", "Event", "events"),
  namespaces: clusterWide("v1", "Namespace", "namespaces"),
  nodes: clusterWide("v1", "Node", "nodes"),
  deployments: namespaced("apps/v1", "Deployment", "deployments"),
  statefulSets: namespaced("apps/v1", "StatefulSet", "statefulsets"),
  daemonSets: namespaced("apps/v1", "DaemonSet", "daemonsets"),
  replicaSets: namespaced("apps/v1", "ReplicaSet", "replicasets"),
  controllerRevisions: namespaced("apps/v1", "ControllerRevision", "controllerrevisions"),
  secretProviderClasses: namespaced("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass", "secretproviderclasses"),
  secretProviderClassPodStatuses: namespaced(
    "secrets-store.csi.x-k8s.io/v1",
    "SecretProviderClassPodStatus",
    "secretproviderclasspodstatuses",
  ),
  leases: namespaced("coordination.k8s.io/v1", "Lease", "leases"),
  mutatingWebhookConfigurations: clusterWide(
    "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
  ),
  roles: namespaced("rbac.authorization.k8s.io/v1", "Role", "roles"),
  roleBindings: namespaced("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
  clusterRoles: clusterWide("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"),
  clusterRoleBindings: clusterWide("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings"),
  subjectAccessReviews: clusterWide("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews"),
  endpointSlices: namespaced("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
  selfSubjectAccessReviews: clusterWide(
    "authorization.k8s.io/v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
  ),
} as const satisfies Record<string, Resource>;

/** What of a resource a path means: all of it, one namespace's, one object, or a part of one object. */
export interface ResourceScope {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Such as "status" or "scale"; only with a name. */
  readonly subresource?: string | undefined;
}

/**
 * The path of a resource on the API server: `/api/v1/secrets`, `/apis/apps/v1/namespaces/a/deployments/b`.
 * Rules: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris.
 * @throws Error where a name is asked for of a namespaced resource without its namespace.
 */
export function resourcePath(resource: Resource, { namespace, name, subresource }: ResourceScope = {}): string {
  if (resource.namespaced && name !== undefined && namespace === undefined) {
    throw new Error(`${resource.plural}/${name}: its namespace is missing`);
  }
  let path = resource.apiVersion.includes("/") ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  if (resource.namespaced && namespace !== undefined) path += `/namespaces/${encodeURIComponent(namespace)}`;
  path += `/${resource.plural}`;
  if (name !== undefined) path += `/${encodeURIComponent(name)}`;
  if (name !== undefined && subresource !== undefined) path += `/${subresource}`;
  return path;
}
