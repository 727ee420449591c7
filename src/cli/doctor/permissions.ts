import type { SubjectAccessReview } from "kubernetes-types/authorization/v1.d.ts";
import { counted, enumerated } from "../../domain/syntax/wording.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { mapBounded } from "../cluster/map-bounded.ts";
import { tryRead } from "../cluster/read-result.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { type DoctorContext, deploymentRef, reinstall } from "./doctor-context.ts";
import { type CheckResult, type Finding, notRead, problem, unchecked } from "./finding.ts";
import { type NeededPermission, neededPermissions } from "./needed-permissions.ts";

/** Of more namespaces than these the first are looked at: each costs a request for every permission. */
const mostNamespaces = 50;

/** Whether Wave's own account may do all that it needs as it is told. */
export async function checkPermissions(doctorContext: DoctorContext): Promise<CheckResult> {
  const each = await Promise.all(doctorContext.serving.map((wave) => permissionsOf(doctorContext, wave)));
  return { found: each.flatMap(({ found }) => found), fine: each.map(({ fine }) => fine).join(", ") };
}

/** One question to the API server: a verb on some objects, somewhere. */
interface Asked {
  readonly need: NeededPermission;
  readonly verb: string;
  /** Undefined: in all namespaces, or in none. */
  readonly namespace: string | undefined;
}

async function permissionsOf({ cluster }: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const account = wave.object.spec?.template.spec?.serviceAccountName ?? "default";
  const served = wave.values.namespaces;
  const looked = served?.slice(0, mostNamespaces);
  const questions = neededPermissions(wave).flatMap((need) => questionsOf(need, served, looked));
  const answers = await tryRead("create subjectaccessreviews", () =>
    mapBounded(questions, async (asked) => ({
      asked,
      allowed: await isAllowed(cluster.client, wave.namespace, account, asked),
    })),
  );
  const whose = `what ${account} in ${wave.namespace} may do`;
  if ("unread" in answers) return { found: [notRead(deploymentRef(wave), whose, answers)], fine: "" };
  const refused = answers.read.filter(({ allowed }) => !allowed).map(({ asked }) => asked);
  const left = (served?.length ?? 0) - (looked?.length ?? 0);
  const rest = left > 0 ? [unchecked(deploymentRef(wave), `${whose} in ${counted(left)} more namespaces`)] : [];
  return {
    found: [...missing(refused, wave, account), ...rest],
    fine: `${account} in ${wave.namespace} has all ${questions.length} that it needs`,
  };
}

/** Namespaces may be allowed by their names alone, where Wave serves some. */
function questionsOf(need: NeededPermission, served: readonly string[] | undefined, looked = served): readonly Asked[] {
  const places =
    need.within === "served" ? (looked ?? [undefined]) : [need.within === "none" ? undefined : need.within.namespace];
  const names = need.resource === "namespaces" ? (looked ?? [undefined]) : [need.name];
  return need.verbs.flatMap((verb) =>
    places.flatMap((namespace) => names.map((name) => ({ need: { ...need, name }, verb, namespace }))),
  );
}

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
async function isAllowed(
  client: DoctorContext["cluster"]["client"],
  accountNamespace: string,
  account: string,
  { need, verb, namespace }: Asked,
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

/** One finding for each kind of object, with all verbs and namespaces in which it is refused. */
function missing(refused: readonly Asked[], wave: RunningWave, account: string): readonly Finding[] {
  const objectsOf = ({ need: { resource, group, name } }: Asked) =>
    `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;
  return [...Map.groupBy(refused, objectsOf)].map(([objects, asked]) => {
    const verbs = [...new Set(asked.map(({ verb }) => verb))];
    const places = [...new Set(asked.flatMap(({ namespace }) => namespace ?? []))];
    const where = places.length === 0 ? "" : ` in ${enumerated(places, 3, String)}`;
    const what = `its account ${account} may not ${enumerated(verbs, verbs.length, String)} ${objects}${where}`;
    return problem(deploymentRef(wave), what, reinstall(wave));
  });
}
