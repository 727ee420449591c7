import type { SelfSubjectAccessReview } from "#kubernetes";
import { formatList } from "../../../domain/syntax/names.ts";
import { type Resource, resourcePath, resources } from "../../../kube/api/resources.ts";
import { findResource } from "../../../kube/reads/reads.ts";
import { inScope, mapBounded, tryRead } from "../../cluster/requests.ts";
import { builtInArgumentKinds } from "../../command/workload-argument.ts";
import { wantedKinds } from "../../flags/compatibility-flags.ts";
import { type DoctorContext, deploymentRef, elects, readObject } from "../context/doctor-context.ts";
import { type CheckResult, type Finding, notRead, problem, unchecked, warning } from "../context/finding.ts";

/** Checks whether the namespace exists, and whether the user may read what plans depend on. Other checks cannot see what the user may not read. */
export async function checkAccess(doctorContext: DoctorContext): Promise<CheckResult> {
  const { cluster, namespace, policy } = doctorContext;
  const needed: readonly Resource[] = [...policy.kinds, resources.configMaps, resources.secrets, resources.pods];
  const absent = namespace === undefined ? [] : await missingNamespace(doctorContext, namespace);
  const scope = inScope(namespace);
  const answers = await tryRead("create selfsubjectaccessreviews", () =>
    mapBounded(needed, async ({ plural, apiVersion }) => {
      const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
      const attributes = { group, resource: plural, verb: "list", ...(namespace !== undefined && { namespace }) };
      const body: SelfSubjectAccessReview = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: attributes },
      };
      const path = resourcePath(resources.selfSubjectAccessReviews);
      const review = await cluster.client.request<SelfSubjectAccessReview>({ method: "POST", path, body });
      return review.status?.allowed ? undefined : plural;
    }),
  );
  if ("unread" in answers) return { found: [...absent, notRead(null, "Your permissions were not checked", answers)] };
  const denied = answers.read.flatMap((each) => each ?? []);
  const needs = denied.map((plural) => `list ${plural} ${scope}`);
  const what = `You do not have permission to list ${formatList(denied, denied.length, String)} ${scope}. Workloads that depend on them were not checked.`;
  return {
    found: denied.length === 0 ? absent : [...absent, unchecked(null, what, needs)],
    fine: `you may list everything that Wave reads ${scope}`,
  };
}

async function missingNamespace(doctorContext: DoctorContext, namespace: string): Promise<readonly Finding[]> {
  const ref = { kind: "Namespace", namespace: null, name: namespace };
  const found = await readObject(doctorContext, resources.namespaces, ref);
  if ("unread" in found || found.read !== undefined) return [];
  return [problem(ref, "The namespace does not exist.", `kubectl create namespace ${namespace}`)];
}

/** The minor version of the oldest Kubernetes that Wave supports, as in the chart. */
export const oldestMinor = 30;

interface GroupList {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

/** Checks the version of the API server, and that it serves the APIs and kinds that Wave needs with its flags. */
export async function checkApiVersions({ cluster, serverVersion, watching }: DoctorContext): Promise<CheckResult> {
  const found: Finding[] = [];
  const minor = /^v1\.(\d+)/.exec(serverVersion ?? "")?.[1];
  if (serverVersion === undefined) {
    const what = "The version of the API server was not checked. You do not have permission to get /version.";
    found.push(unchecked(null, what));
  } else if (minor !== undefined && Number(minor) < oldestMinor) {
    const what = `Kubernetes ${serverVersion} is too old. Wave needs 1.${oldestMinor} or newer.`;
    found.push(problem(null, what, "Upgrade the cluster."));
  }
  const needed = new Set(builtInArgumentKinds.map(({ resource }) => resource.apiVersion));
  if (watching.some((wave) => elects(wave))) needed.add("coordination.k8s.io/v1");
  if (watching.some((wave) => wave.values["enable-webhooks"])) needed.add("admissionregistration.k8s.io/v1");
  const groups = await tryRead("get /apis", () => cluster.client.request<GroupList>({ method: "GET", path: "/apis" }));
  if ("unread" in groups) found.push(notRead(null, "The served APIs were not checked", groups));
  else {
    const served = new Set(groups.read.groups.flatMap(({ versions }) => versions.map((each) => each.groupVersion)));
    for (const each of needed)
      if (!served.has(each))
        found.push(problem(null, `The API server does not serve ${each}, which Wave needs.`, "kubectl api-versions"));
  }
  const kinds = watching.flatMap((wave) => (wantedKinds(wave.values) ?? []).map((kind) => ({ wave, kind })));
  const absent = await mapBounded(kinds, async ({ wave, kind }): Promise<readonly Finding[]> => {
    const resource = await tryRead("get /apis", () => findResource(cluster.client, kind));
    if ("unread" in resource) return [notRead(deploymentRef(wave), `Kind ${kind.id} was not checked`, resource)];
    if (resource.read !== undefined) return [];
    const what = `Wave cannot roll ${kind.id}. --workload-kinds names this kind, but the API server does not serve it.`;
    return [warning(deploymentRef(wave), what, "kubectl api-resources")];
  });
  return { found: [...found, ...absent.flat()], fine: `Kubernetes ${serverVersion}` };
}
