import type { SubjectAccessReview } from "#kubernetes";
import { formatCount, formatList } from "../../../domain/syntax/names.ts";
import { resourcePath, resources, roleKind } from "../../../kube/api/resources.ts";
import {
  kindPermissions,
  type PermissionCondition,
  type PermissionName,
  type PermissionRow,
  permissionRows,
  roleScopes,
} from "../../../manager/permissions.ts";
import { mapBounded, tryRead } from "../../cluster/requests.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { wantedKinds } from "../../flags/compatibility-flags.ts";
import { ownershipOf } from "../../flags/run-flags.ts";
import { type DoctorContext, deploymentRef, elects, forEachWave, reinstall } from "../context/doctor-context.ts";
import { type CheckResult, type Finding, notRead, problem, unchecked } from "../context/finding.ts";

/** At most this number of watched namespaces is checked: each costs one request for each permission. */
const mostNamespaces = 50;

/** Checks that the ServiceAccount of Wave has all permissions that its flags need. */
export function checkPermissions(doctorContext: DoctorContext): Promise<CheckResult> {
  return forEachWave(doctorContext, (wave) => permissionsOf(doctorContext, wave));
}

/** A permission that a Wave needs: one verb on objects, in one namespace. Each is checked by one access review. */
export interface NeededPermission {
  /** The suffix of the role in the chart; "" for the role with the name of the release. */
  readonly role: string;
  readonly group: string;
  readonly resource: string;
  /** Undefined: all objects of the kind. */
  readonly name: string | undefined;
  readonly verb: string;
  /** Undefined: all namespaces, or objects without a namespace. */
  readonly namespace: string | undefined;
}

async function permissionsOf({ cluster }: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const watched = wave.values.namespaces;
  const checked = watched?.slice(0, mostNamespaces);
  const needed = neededPermissions(wave, checked);
  const answers = await tryRead("create subjectaccessreviews", () =>
    mapBounded(needed, async (need) => {
      const may = (asked: NeededPermission) => isAllowed(cluster.client, wave, asked);
      return { need, allowed: (await may(need)) || (await mayGetNamespace(need, may)) };
    }),
  );
  const account = accountOf(wave);
  const whose = `Permissions of ServiceAccount ${account} in ${wave.namespace} were not checked`;
  if ("unread" in answers) return { found: [notRead(deploymentRef(wave), whose, answers)] };
  const denied = answers.read.filter(({ allowed }) => !allowed).map(({ need }) => need);
  const left = (watched?.length ?? 0) - (checked?.length ?? 0);
  const rest = left > 0 ? [unchecked(deploymentRef(wave), `${whose} in ${formatCount(left)} more namespaces.`)] : [];
  return {
    found: [...missing(denied, needed, wave), ...rest],
    fine: `${account} in ${wave.namespace} has all ${needed.length} permissions that it needs`,
  };
}

function accountOf({ object }: RunningWave): string {
  return object.spec?.template.spec?.serviceAccountName ?? "default";
}

/** Reports whether Wave may get a named Namespace. A Role in it can allow that, and Wave then needs neither list nor watch. */
async function mayGetNamespace(
  need: NeededPermission,
  may: (need: NeededPermission) => Promise<boolean>,
): Promise<boolean> {
  if (need.resource !== resources.namespaces.plural || need.name === undefined || need.verb === "get") return false;
  return may({ ...need, verb: "get", namespace: need.name });
}

/** Reports whether Wave may read ConfigMaps in a namespace; undefined if the user may not know. */
export async function mayReadConfiguration(
  { cluster }: DoctorContext,
  wave: RunningWave,
  namespace: string,
): Promise<boolean | undefined> {
  const need = { group: "", resource: resources.configMaps.plural, name: undefined, verb: "get", namespace };
  const answer = await tryRead("create subjectaccessreviews", () => isAllowed(cluster.client, wave, need));
  return "read" in answer ? answer.read : undefined;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
async function isAllowed(
  client: DoctorContext["cluster"]["client"],
  wave: RunningWave,
  { group, resource, name, verb, namespace }: Omit<NeededPermission, "role">,
): Promise<boolean> {
  const body: SubjectAccessReview = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: `system:serviceaccount:${wave.namespace}:${accountOf(wave)}`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${wave.namespace}`, "system:authenticated"],
      resourceAttributes: {
        group,
        resource,
        verb,
        ...(namespace !== undefined && { namespace }),
        ...(name !== undefined && { name }),
      },
    },
  };
  const path = resourcePath(resources.subjectAccessReviews);
  return (await client.request<SubjectAccessReview>({ method: "POST", path, body })).status?.allowed === true;
}

/** Returns one finding for each role that is not bound at all, and otherwise one for each kind with all denied verbs and namespaces. */
function missing(
  denied: readonly NeededPermission[],
  needed: readonly NeededPermission[],
  wave: RunningWave,
): readonly Finding[] {
  const byRole = Map.groupBy(needed, ({ role }) => role);
  const refused = new Set(denied);
  const unbound = [...byRole].filter(([, ofRole]) => {
    const own = ofRole.filter((each) => !isGrantedByOther(each, needed));
    return own.length > 0 && own.every((each) => refused.has(each));
  });
  const roles = new Set(unbound.map(([role]) => role));
  const left = denied.filter(({ role }) => !roles.has(role));
  return [...unbound.map(([role]) => unboundRole(role, wave)), ...missingObjects(left, wave)];
}

/** Reports whether another role grants the same verb on the same objects, so that the answer does not show whether this role is bound. */
function isGrantedByOther(
  { role, group, resource, verb }: NeededPermission,
  needed: readonly NeededPermission[],
): boolean {
  return needed.some(
    (other) => other.role !== role && other.verb === verb && other.resource === resource && other.group === group,
  );
}

function unboundRole(role: string, wave: RunningWave): Finding {
  const name = role === "" ? wave.name : `${wave.name}-${role}`;
  const what = `ServiceAccount ${accountOf(wave)} has none of the permissions of role ${name}. The role or its binding is missing.`;
  return problem(deploymentRef(wave), what, reinstall(wave));
}

function missingObjects(denied: readonly NeededPermission[], wave: RunningWave): readonly Finding[] {
  const objectsOf = ({ resource, group, name }: NeededPermission) =>
    `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;
  return [...Map.groupBy(denied, objectsOf)].map(([objects, needs]) => {
    const verbs = [...new Set(needs.map(({ verb }) => verb))];
    const places = [...new Set(needs.flatMap(({ namespace }) => namespace ?? []))];
    const where = places.length === 0 ? "" : ` in ${formatList(places, 3, String)}`;
    const role = roleKind(places[0]);
    const what = `ServiceAccount ${accountOf(wave)} lacks permission to ${formatList(verbs, verbs.length, String)} ${objects}${where} (${role}).`;
    return problem(deploymentRef(wave), what, reinstall(wave));
  });
}

/** Returns each verb that a Wave needs with its flags, in each of these namespaces; undefined: in all namespaces. */
export function neededPermissions(
  wave: RunningWave,
  watched: readonly string[] | undefined,
): readonly NeededPermission[] {
  const kinds = (wantedKinds(wave.values) ?? []).flatMap(({ id }) => kindPermissions(id));
  const rows = [
    ...permissionRows.filter(({ when }) => isNeeded[when](wave)),
    ...kinds.map((permission): PermissionRow => ({ ...permission, role: "", when: "always" })),
  ];
  return rows.flatMap((row) => {
    const { role, verbs } = row;
    const [resource = "", ...group] = row.resource.split(".");
    const places = placesOf(role, wave, watched);
    // A role may allow these Namespaces by name only.
    const isByName = row.name === "namespaces" && watched !== undefined;
    const names = isByName ? new Set([...watched, wave.namespace]) : [row.name && nameOf(row.name, wave)];
    const permission = { role, group: group.join("."), resource };
    return verbs.flatMap((verb) =>
      places.flatMap((namespace) => Array.from(names, (name) => ({ ...permission, name, verb, namespace }))),
    );
  });
}

const isNeeded: Readonly<Record<PermissionCondition, (wave: RunningWave) => boolean>> = {
  always: () => true,
  ownersWritten: ({ values }) => ownershipOf(values) !== undefined,
  ownersKept: ({ values }) => ownershipOf(values) === "keep",
  // Without it, Wave rolls workloads instead.
  pinned: ({ values }) => values["pin-config"],
  csi: ({ values }) => values["enable-csi-integration"],
  leaderElection: elects,
  hashKey: ({ values }) => values["hash-key-secret"] !== undefined,
  webhooks: ({ values }) => values["enable-webhooks"],
  installedWebhook: ({ values }) => values["enable-webhooks"] && values["webhook-url"] === undefined,
  ownAuthority: ({ values }) => values["enable-webhooks"] && values["webhook-tls-directory"] === undefined,
  // The account of the uninstall hook has these permissions, and not the running Wave.
  uninstall: () => false,
  uninstallOwners: () => false,
};

function nameOf(name: PermissionName, wave: RunningWave): string | undefined {
  const { values } = wave;
  switch (name) {
    case "namespaces":
      return undefined;
    case "deployment":
      return wave.name;
    case "uninstallJob":
      return `${wave.name}-uninstall`;
    case "lease":
      return values["leader-election-id"];
    case "hashKey":
      return values["hash-key-secret"]?.name;
    case "webhook":
      return values["webhook-service-name"];
    case "authority":
      return `${values["webhook-service-name"]}-authority`;
  }
}

function placesOf(
  role: PermissionRow["role"],
  { values, namespace }: RunningWave,
  watched: readonly string[] | undefined,
): readonly (string | undefined)[] {
  switch (roleScopes[role]) {
    case "watched":
      return watched ?? [undefined];
    case "cluster":
      return [undefined];
    case "leaseNamespace":
      return [values["leader-election-namespace"] ?? namespace];
    case "hashKeyNamespace":
      return [values["hash-key-secret"]?.namespace ?? namespace];
    case "ownNamespace":
      return [namespace];
  }
}
