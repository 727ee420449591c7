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

/** The permissions for configuration and for built-in kinds of workload. Those of other kinds are in {@link kindPermissions}. */
export const permissionRows: readonly PermissionRow[] = [
  row("", "configmaps", "list watch", "Wave caches digests of what Pods read"),
  row(
    "",
    "configmaps",
    "get",
    "Wave reads an object again before a write if the cache may be stale; the webhook reads each object",
  ),
  row("", "secrets", "list watch", "as configmaps"),
  row("", "secrets", "get", "as configmaps"),
  row("", "configmaps", "patch", "Wave writes only [owner references](gitops.md#owner-references)", "ownersWritten"),
  row("", "secrets", "patch", "as configmaps", "ownersWritten"),
  row(
    "",
    "configmaps",
    "create patch delete",
    "Wave stores [pinned copies](pinning.md), and deletes unused ones",
    "pinned",
  ),
  row(
    "",
    "pods",
    "delete",
    "with `on-failure: return`, Wave deletes Pods of a failed rollout if a StatefulSet waits for these Pods",
    "pinned",
  ),
  row(
    "",
    "pods",
    "list",
    "Wave finds Pods that [read an earlier configuration](concepts.md#what-pods-read), [mixed Pods](rollouts.md#mixed-pods), containers that restart, and [stuck Pods](pacing.md#stuck-is-not-failed); with the value `pinConfig.enabled` also the pinned copies that Pods use",
  ),
  row("", "replicasets.apps", "list", "Wave keeps the pinned copies of old revisions", "pinned"),
  row("", "controllerrevisions.apps", "list", "as replicasets", "pinned"),
  row("", "deployments.apps", "list watch", "Wave finds the workloads that read a changed object"),
  row("", "deployments.apps", "get", "Wave reads a workload again if it changed or opted out during the decision"),
  row("", "deployments.apps", "patch", `Wave writes the hash into the pod template; ${finalizer}`),
  row("", "statefulsets.apps", "list watch", "as deployments"),
  row("", "statefulsets.apps", "get", "as deployments, and to check whether a scheduling hold has ended"),
  row("", "statefulsets.apps", "patch", "as deployments"),
  row("", "daemonsets.apps", "list watch", "as deployments"),
  row("", "daemonsets.apps", "get", "as statefulsets"),
  row("", "daemonsets.apps", "patch", "as deployments"),
  row(
    "",
    "secretproviderclasspodstatuses.secrets-store.csi.x-k8s.io",
    "list watch",
    "Wave tracks what SecretProviderClasses fetch",
    "csi",
  ),
  row(
    "",
    "events",
    "create patch",
    "Wave writes Events on workloads, pending Pods, ConfigMaps and Secrets; a repeated Event increases the count of the existing Event",
  ),
  row(
    "",
    "events",
    "list",
    "Wave reads why a quota rejects the Pods of a StatefulSet or DaemonSet, and why a volume of a Pod is not attached",
  ),
  named(
    "namespaces",
    "namespaces",
    "namespaces",
    "list watch",
    "annotations of a Namespace apply to its workloads, and those of its own [hold every rollout](on-call.md#stop-every-rollout). With the value `namespaces`, only for these Namespaces. With only a Role, Wave reads them every 10 s",
  ),
  named(
    "namespaces",
    "namespaces",
    "namespaces",
    "get",
    "Wave reads the uid for [owner references](gitops.md#owner-references)",
    "ownersKept",
  ),
  named(
    "leader-election",
    "leases.coordination.k8s.io",
    "lease",
    "get update",
    "replicas elect the leader, and the leader renews the Lease",
    "leaderElection",
  ),
  row(
    "leader-election",
    "leases.coordination.k8s.io",
    "create",
    `Wave creates the Lease once; ${limitedCreate}`,
    "leaderElection",
  ),
  row("leader-election", "events", "create patch", "the new leader writes an Event on the Lease", "leaderElection"),
  named("hash-key", "secrets", "hashKey", "get list watch", "all replicas share the hash key", "hashKey"),
  named("hash-key", "secrets", "hashKey", "update", "Wave rotates the key on request", "hashKey"),
  row("hash-key", "secrets", "create", `Wave creates the key once; ${limitedCreate}`, "hashKey"),
  row(
    "webhook",
    "pods",
    "list delete",
    "Wave deletes Pods that are still pending when their scheduling hold ends, if Kubernetes would not replace them",
    "webhooks",
  ),
  named(
    "webhook-configuration",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "webhook",
    "get list watch patch",
    "Wave keeps the `caBundle` and the path of this one configuration correct",
    "installedWebhook",
  ),
  named(
    "webhook-authority",
    "secrets",
    "authority",
    "get list watch",
    "all replicas share the certificate authority",
    "ownAuthority",
  ),
  named("webhook-authority", "secrets", "authority", "update", "Wave renews the authority", "ownAuthority"),
  row("webhook-authority", "secrets", "create", `Wave creates the authority once; ${limitedCreate}`, "ownAuthority"),
  named(
    "uninstall-webhook",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "webhook",
    "delete",
    "the webhook would add lifted scheduling holds again",
    "uninstall",
  ),
  row(
    "uninstall-webhook",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "list",
    "the hook warns if a webhook is left",
    "uninstall",
  ),
  named(
    "uninstall-deployment",
    "deployments.apps",
    "deployment",
    "get patch",
    "Wave is scaled to 0, because it would add removed finalizers again",
    "uninstall",
  ),
  named(
    "uninstall-deployment",
    "jobs.batch",
    "uninstallJob",
    "get",
    "the hook does nothing if its Job was applied with the other manifests",
    "uninstall",
  ),
  row(
    "uninstall",
    "deployments.apps",
    "list get patch",
    "scheduling holds are lifted and finalizers are removed",
    "uninstall",
  ),
  row("uninstall", "statefulsets.apps", "list get patch", "as deployments", "uninstall"),
  row("uninstall", "daemonsets.apps", "list get patch", "as deployments", "uninstall"),
  row("uninstall", "pods", "list delete", "Wave replaces Pods that Kubernetes would not replace", "uninstall"),
  row(
    "uninstall",
    "configmaps",
    "list get patch",
    "owner references are removed before the finalizer",
    "uninstallOwners",
  ),
  row("uninstall", "secrets", "list get patch", "as configmaps", "uninstallOwners"),
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

function row(
  role: PermissionRole,
  resource: string,
  verbs: string,
  reason: string,
  when: PermissionCondition = "always",
): PermissionRow {
  return { role, resource, verbs: verbs.split(" "), when, reason };
}

function named(
  role: PermissionRole,
  resource: string,
  name: PermissionName,
  verbs: string,
  reason: string,
  when: PermissionCondition = "always",
): PermissionRow {
  return { ...row(role, resource, verbs, reason, when), name };
}
