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

/** One access review: a verb on objects, in a namespace. */
interface AccessQuestion {
  readonly need: NeededPermission;
  readonly verb: string;
  /** Undefined: all namespaces, or objects without a namespace. */
  readonly namespace: string | undefined;
}

async function permissionsOf({ cluster }: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const account = wave.object.spec?.template.spec?.serviceAccountName ?? "default";
  const watched = wave.values.namespaces;
  const checked = watched?.slice(0, mostNamespaces);
  const questions = neededPermissions(wave).flatMap((need) => questionsOf(need, checked, wave.namespace));
  const answers = await tryRead("create subjectaccessreviews", () =>
    mapBounded(questions, async (question) => {
      const may = (asked: AccessQuestion) => isAllowed(cluster.client, wave.namespace, account, asked);
      return { question, allowed: (await may(question)) || (await mayGetNamespace(question, may)) };
    }),
  );
  const whose = `Permissions of ServiceAccount ${account} in ${wave.namespace} were not checked`;
  if ("unread" in answers) return { found: [notRead(deploymentRef(wave), whose, answers)] };
  const denied = answers.read.filter(({ allowed }) => !allowed).map(({ question }) => question);
  const left = (watched?.length ?? 0) - (checked?.length ?? 0);
  const rest = left > 0 ? [unchecked(deploymentRef(wave), `${whose} in ${formatCount(left)} more namespaces.`)] : [];
  return {
    found: [...missing(denied, questions, wave, account), ...rest],
    fine: `${account} in ${wave.namespace} has all ${questions.length} permissions that it needs`,
  };
}

/** Returns one question for each verb and place. If Wave watches named namespaces, a role may allow these Namespaces by name only. */
function questionsOf(
  need: NeededPermission,
  namespaces: readonly string[] | undefined,
  own: string,
): readonly AccessQuestion[] {
  const places =
    need.within === "watched"
      ? (namespaces ?? [undefined])
      : [need.within === "none" ? undefined : need.within.namespace];
  const names =
    need.resource === "namespaces"
      ? namespaces === undefined
        ? [undefined]
        : new Set([...namespaces, own])
      : [need.name];
  return need.verbs.flatMap((verb) =>
    places.flatMap((namespace) => Array.from(names, (name) => ({ need: { ...need, name }, verb, namespace }))),
  );
}

/** Reports whether Wave may get a named Namespace. A Role in it can allow that, and Wave then needs neither list nor watch. */
async function mayGetNamespace(
  { need, verb }: AccessQuestion,
  may: (question: AccessQuestion) => Promise<boolean>,
): Promise<boolean> {
  if (need.resource !== resources.namespaces.plural || need.name === undefined || verb === "get") return false;
  return may({ need, verb: "get", namespace: need.name });
}

/** Reports whether Wave may read ConfigMaps in a namespace; undefined if the user may not know. */
export async function mayReadConfiguration(
  { cluster }: DoctorContext,
  wave: RunningWave,
  namespace: string,
): Promise<boolean | undefined> {
  const account = wave.object.spec?.template.spec?.serviceAccountName ?? "default";
  const need: NeededPermission = {
    role: "",
    group: "",
    resource: resources.configMaps.plural,
    name: undefined,
    verbs: ["get"],
    within: "watched",
  };
  const question: AccessQuestion = { need, verb: "get", namespace };
  const answer = await tryRead("create subjectaccessreviews", () =>
    isAllowed(cluster.client, wave.namespace, account, question),
  );
  return "read" in answer ? answer.read : undefined;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
async function isAllowed(
  client: DoctorContext["cluster"]["client"],
  accountNamespace: string,
  account: string,
  { need, verb, namespace }: AccessQuestion,
): Promise<boolean> {
  const { group, resource, name } = need;
  const body: SubjectAccessReview = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: `system:serviceaccount:${accountNamespace}:${account}`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${accountNamespace}`, "system:authenticated"],
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
  denied: readonly AccessQuestion[],
  asked: readonly AccessQuestion[],
  wave: RunningWave,
  account: string,
): readonly Finding[] {
  const byRole = Map.groupBy(asked, ({ need }) => need.role);
  const refused = new Set(denied);
  const unbound = [...byRole].filter(([, questions]) => {
    const own = questions.filter((each) => !isGrantedByOther(each, asked));
    return own.length > 0 && own.every((each) => refused.has(each));
  });
  const roles = new Set(unbound.map(([role]) => role));
  const left = denied.filter(({ need }) => !roles.has(need.role));
  return [...unbound.map(([role]) => unboundRole(role, wave, account)), ...missingObjects(left, wave, account)];
}

/** Reports whether another role grants the same verb on the same objects, so that the answer does not show whether this role is bound. */
function isGrantedByOther({ need, verb }: AccessQuestion, asked: readonly AccessQuestion[]): boolean {
  return asked.some(
    (other) =>
      other.need.role !== need.role &&
      other.verb === verb &&
      other.need.resource === need.resource &&
      other.need.group === need.group,
  );
}

function unboundRole(role: string, wave: RunningWave, account: string): Finding {
  const name = role === "" ? wave.name : `${wave.name}-${role}`;
  const what = `ServiceAccount ${account} has none of the permissions of role ${name}. The role or its binding is missing.`;
  return problem(deploymentRef(wave), what, reinstall(wave));
}

function missingObjects(denied: readonly AccessQuestion[], wave: RunningWave, account: string): readonly Finding[] {
  const objectsOf = ({ need: { resource, group, name } }: AccessQuestion) =>
    `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;
  return [...Map.groupBy(denied, objectsOf)].map(([objects, questions]) => {
    const verbs = [...new Set(questions.map(({ verb }) => verb))];
    const places = [...new Set(questions.flatMap(({ namespace }) => namespace ?? []))];
    const where = places.length === 0 ? "" : ` in ${formatList(places, 3, String)}`;
    const role = roleKind(places[0]);
    const what = `ServiceAccount ${account} lacks permission to ${formatList(verbs, verbs.length, String)} ${objects}${where} (${role}).`;
    return problem(deploymentRef(wave), what, reinstall(wave));
  });
}

/** A permission that a Wave needs on objects of one resource. */
export interface NeededPermission {
  /** The suffix of the role in the chart; "" for the role with the name of the release. */
  readonly role: string;
  readonly group: string;
  readonly resource: string;
  /** Undefined: all objects of the kind. */
  readonly name: string | undefined;
  readonly verbs: readonly string[];
  /** The scope: each watched namespace, no namespace, or one namespace. */
  readonly within: "watched" | "none" | { readonly namespace: string };
}

/** Returns the rows of the permission table that a Wave needs with its flags. */
export function neededPermissions(wave: RunningWave): readonly NeededPermission[] {
  const kinds = (wantedKinds(wave.values) ?? []).flatMap(({ id }) => kindPermissions(id));
  return [
    ...permissionRows.filter(({ when }) => isNeeded[when](wave)),
    ...kinds.map((permission): PermissionRow => ({ ...permission, role: "", when: "always" })),
  ].map((row) => neededPermission(row, wave));
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

function neededPermission({ role, resource, name, verbs }: PermissionRow, wave: RunningWave): NeededPermission {
  const [plural = "", ...group] = resource.split(".");
  const objectName = name && nameOf(name, wave);
  return { role, group: group.join("."), resource: plural, name: objectName, verbs, within: scopeOf(role, wave) };
}

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

function scopeOf(role: PermissionRow["role"], { values, namespace }: RunningWave): NeededPermission["within"] {
  switch (roleScopes[role]) {
    case "watched":
      return "watched";
    case "cluster":
      return "none";
    case "leaseNamespace":
      return { namespace: values["leader-election-namespace"] ?? namespace };
    case "hashKeyNamespace":
      return { namespace: values["hash-key-secret"]?.namespace ?? namespace };
    case "ownNamespace":
      return { namespace };
  }
}
