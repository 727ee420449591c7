// The permissions of Wave, in one table. The roles of the chart, `wave doctor` and docs/security.md are made from it.
import { knownKinds } from "../domain/model/kinds/known-kinds.ts";
import { rolloutStrategies } from "../domain/model/rollout-strategy.ts";

/** The suffix of a role in the chart; "" is the role with the name of the release. */
export type PermissionRole =
  | ""
  | "namespaces"
  | "leader-election"
  | "hash-key"
  | "webhook"
  | "webhook-configuration"
  | "webhook-authority"
  | "uninstall"
  | "uninstall-webhook"
  | "uninstall-deployment";

/** Where a role applies. "watched": in all namespaces, or in each watched one. "cluster": objects without a namespace. */
type PermissionScope = "watched" | "cluster" | "leaseNamespace" | "hashKeyNamespace" | "ownNamespace";

/** The feature that needs a permission. */
export type PermissionCondition =
  | "always"
  | "ownersWritten"
  | "ownersKept"
  | "pinned"
  | "csi"
  | "leaderElection"
  | "hashKey"
  | "webhooks"
  | "installedWebhook"
  | "ownAuthority"
  | "uninstall"
  | "uninstallOwners";

/** The object to which a permission is limited by its name. "namespaces": the watched Namespaces and that of Wave, if there is a list. */
export type PermissionName =
  | "namespaces"
  | "lease"
  | "hashKey"
  | "webhook"
  | "authority"
  | "deployment"
  | "uninstallJob";

/** One permission and its reason. */
export interface PermissionRow {
  readonly role: PermissionRole;
  /** "resource.group"; without a group for the core API. */
  readonly resource: string;
  /** Undefined: all objects of the resource. */
  readonly name?: PermissionName;
  readonly verbs: readonly string[];
  readonly when: PermissionCondition;
  /** The reason in Markdown, without a full stop. */
  readonly reason: string;
}

/** The scope of each role. `wave doctor` checks the permissions of the role in this scope. */
export const roleScopes: Readonly<Record<PermissionRole, PermissionScope>> = {
  "": "watched",
  namespaces: "cluster",
  "leader-election": "leaseNamespace",
  "hash-key": "hashKeyNamespace",
  webhook: "watched",
  "webhook-configuration": "cluster",
  "webhook-authority": "ownNamespace",
  uninstall: "watched",
  "uninstall-webhook": "cluster",
  "uninstall-deployment": "ownNamespace",
};

const limitedCreate = "RBAC cannot limit `create` to a name";
const finalizer = "with the value `ownerReferences` or `migrateLegacy` also the finalizer";

const watched = inRole("", "always");
const pinned = inRole("", "pinned");
const owned = inRole("", "ownersWritten");
const election = inRole("leader-election", "leaderElection");
const hashKey = inRole("hash-key", "hashKey");
const authority = inRole("webhook-authority", "ownAuthority");
const uninstall = inRole("uninstall", "uninstall");
const uninstallOwners = inRole("uninstall", "uninstallOwners");
const uninstallWebhook = inRole("uninstall-webhook", "uninstall");
const uninstallDeployment = inRole("uninstall-deployment", "uninstall");

/** The permissions for configuration and for built-in kinds of workload. Those of other kinds are in {@link kindPermissions}. */
export const permissionRows: readonly PermissionRow[] = [
  watched("configmaps", "list watch", "Wave caches digests of what Pods read"),
  watched(
    "configmaps",
    "get",
    "Wave reads an object again before a write if the cache may be stale; the webhook reads each object",
  ),
  watched("secrets", "list watch", "as configmaps"),
  watched("secrets", "get", "as configmaps"),
  owned("configmaps", "patch", "Wave writes only [owner references](gitops.md#owner-references)"),
  owned("secrets", "patch", "as configmaps"),
  pinned("configmaps", "create patch delete", "Wave stores [pinned copies](pinning.md), and deletes unused ones"),
  pinned(
    "pods",
    "delete",
    "with `on-failure: return`, Wave deletes Pods of a failed rollout if a StatefulSet waits for these Pods",
  ),
  watched(
    "pods",
    "list",
    "Wave finds Pods that [read an earlier configuration](concepts.md#what-pods-read), [mixed Pods](rollouts.md#mixed-pods), containers that restart, and [stuck Pods](pacing.md#stuck-is-not-failed); with the value `pinConfig.enabled` also the pinned copies that Pods use",
  ),
  pinned("replicasets.apps", "list", "Wave keeps the pinned copies of old revisions"),
  pinned("controllerrevisions.apps", "list", "as replicasets"),
  watched("deployments.apps", "list watch", "Wave finds the workloads that read a changed object"),
  watched("deployments.apps", "get", "Wave reads a workload again if it changed or opted out during the decision"),
  watched("deployments.apps", "patch", `Wave writes the hash into the pod template; ${finalizer}`),
  watched("statefulsets.apps", "list watch", "as deployments"),
  watched("statefulsets.apps", "get", "as deployments, and to check whether a scheduling hold has ended"),
  watched("statefulsets.apps", "patch", "as deployments"),
  watched("daemonsets.apps", "list watch", "as deployments"),
  watched("daemonsets.apps", "get", "as statefulsets"),
  watched("daemonsets.apps", "patch", "as deployments"),
  inRole("", "csi")(
    "secretproviderclasspodstatuses.secrets-store.csi.x-k8s.io",
    "list watch",
    "Wave tracks what SecretProviderClasses fetch",
  ),
  watched(
    "events",
    "create patch",
    "Wave writes Events on workloads, pending Pods, ConfigMaps and Secrets; a repeated Event increases the count of the existing Event",
  ),
  watched(
    "events",
    "list",
    "Wave reads why a quota rejects the Pods of a StatefulSet or DaemonSet, and why a volume of a Pod is not attached",
  ),
  inRole("namespaces", "always")(
    "namespaces",
    "list watch",
    "annotations of a Namespace apply to its workloads, and those of its own [hold every rollout](on-call.md#stop-every-rollout). With the value `namespaces`, only for these Namespaces. With only a Role, Wave reads them every 10 s",
    "namespaces",
  ),
  inRole("namespaces", "ownersKept")(
    "namespaces",
    "get",
    "Wave reads the uid for [owner references](gitops.md#owner-references)",
    "namespaces",
  ),
  election(
    "leases.coordination.k8s.io",
    "get update",
    "replicas elect the leader, and the leader renews the Lease",
    "lease",
  ),
  election("leases.coordination.k8s.io", "create", `Wave creates the Lease once; ${limitedCreate}`),
  election("events", "create patch", "the new leader writes an Event on the Lease"),
  hashKey("secrets", "get list watch", "all replicas share the hash key", "hashKey"),
  hashKey("secrets", "update", "Wave rotates the key on request", "hashKey"),
  hashKey("secrets", "create", `Wave creates the key once; ${limitedCreate}`),
  inRole("webhook", "webhooks")(
    "pods",
    "list delete",
    "Wave deletes Pods that are still pending when their scheduling hold ends, if Kubernetes would not replace them",
  ),
  inRole("webhook-configuration", "installedWebhook")(
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "get list watch patch",
    "Wave keeps the `caBundle` and the path of this one configuration correct",
    "webhook",
  ),
  authority("secrets", "get list watch", "all replicas share the certificate authority", "authority"),
  authority("secrets", "update", "Wave renews the authority", "authority"),
  authority("secrets", "create", `Wave creates the authority once; ${limitedCreate}`),
  uninstallWebhook(
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "delete",
    "the webhook would add lifted scheduling holds again",
    "webhook",
  ),
  uninstallWebhook(
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "list",
    "the hook warns if a webhook is left",
  ),
  uninstallDeployment(
    "deployments.apps",
    "get patch",
    "Wave is scaled to 0, because it would add removed finalizers again",
    "deployment",
  ),
  uninstallDeployment(
    "jobs.batch",
    "get",
    "the hook does nothing if its Job was applied with the other manifests",
    "uninstallJob",
  ),
  uninstall("deployments.apps", "list get patch", "scheduling holds are lifted and finalizers are removed"),
  uninstall("statefulsets.apps", "list get patch", "as deployments"),
  uninstall("daemonsets.apps", "list get patch", "as deployments"),
  uninstall("pods", "list delete", "Wave replaces Pods that Kubernetes would not replace"),
  uninstallOwners("configmaps", "list get patch", "owner references are removed before the finalizer"),
  uninstallOwners("secrets", "list get patch", "as configmaps"),
];

/** A permission that depends on the kind of workload. */
type KindPermission = Pick<PermissionRow, "resource" | "verbs" | "reason">;

/** Returns the permissions of the role "" for a configured kind, such as "cronjobs.batch". */
export function kindPermissions(id: string): readonly KindPermission[] {
  const { permissions } = rolloutStrategies[knownKinds[id]?.strategy ?? "template"];
  return [
    { resource: id, verbs: ["get", "list", "watch", "patch"], reason: "as statefulsets" },
    ...permissions.map(({ resource = id, verbs }) => ({ resource, verbs, reason: strategyReason(id) })),
  ];
}

/** The kinds whose rollout needs more than a patch. */
export const kindsWithPermissions: readonly string[] = Object.keys(knownKinds).filter(
  (id) => kindPermissions(id).length > 1,
);

function strategyReason(id: string): string {
  return id === "cronjobs.batch"
    ? "Wave runs a CronJob once outside its schedule"
    : "Wave recreates a Job, because its pod template cannot be changed";
}

/** Returns a function that makes the rows of a role and a feature. Its arguments are resource, verbs, reason and name. */
function inRole(role: PermissionRole, when: PermissionCondition) {
  return (resource: string, verbs: string, reason: string, name?: PermissionName): PermissionRow => {
    return { role, resource, verbs: verbs.split(" "), when, reason, ...(name && { name }) };
  };
}
