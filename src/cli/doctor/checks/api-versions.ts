import { findResource } from "../../../kube/reads/discovery.ts";
import { mapBounded } from "../../cluster/requests/map-bounded.ts";
import { tryRead } from "../../cluster/requests/read-result.ts";
import { builtInArgumentKinds } from "../../command/workload-argument.ts";
import { wantedKinds } from "../../flags/kind-flags.ts";
import { type DoctorContext, deploymentRef, elects } from "../context/doctor-context.ts";
import { type CheckResult, type Finding, notRead, problem, unchecked, warning } from "../context/finding.ts";

/** The minor version of the oldest Kubernetes that Wave supports, as in the chart. */
export const oldestMinor = 30;

interface GroupList {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

/** Checks the version of the API server, and that it serves the APIs and kinds that Wave needs with its flags. */
export async function checkApiVersions({ cluster, serverVersion, watching }: DoctorContext): Promise<CheckResult> {
  const found: Finding[] = [];
  const minor = /^v1\.(\d+)/.exec(serverVersion ?? "")?.[1];
  if (serverVersion === undefined)
    found.push(
      unchecked(null, "The version of the API server was not checked. You do not have permission to get /version."),
    );
  else if (minor !== undefined && Number(minor) < oldestMinor)
    found.push(
      problem(
        null,
        `Kubernetes ${serverVersion} is too old. Wave needs 1.${oldestMinor} or newer.`,
        "Upgrade the cluster.",
      ),
    );
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
