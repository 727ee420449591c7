import { findResource } from "../../kube/reads/discovery.ts";
import { mapBounded } from "../cluster/map-bounded.ts";
import { tryRead } from "../cluster/read-result.ts";
import { builtInArgumentKinds } from "../command/workload-argument.ts";
import { wantedKinds } from "../flags/kind-flags.ts";
import { type DoctorContext, elects, deploymentRef } from "./doctor-context.ts";
import { type CheckResult, type Finding, notRead, problem, unchecked, warning } from "./finding.ts";

/** The oldest Kubernetes that Wave runs on, as the chart has it: 1 and this. */
export const oldestMinor = 30;

interface GroupList {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

/** Whether the API server is new enough, and serves the kinds that Wave needs as it is told. */
export async function checkApiVersions({ cluster, serverVersion, serving }: DoctorContext): Promise<CheckResult> {
  const found: Finding[] = [];
  const minor = /^v1\.(\d+)/.exec(serverVersion ?? "")?.[1];
  if (serverVersion === undefined) found.push(unchecked(null, "the API server does not say its version"));
  else if (minor !== undefined && Number(minor) < oldestMinor)
    found.push(problem(null, `Kubernetes ${serverVersion} is older than 1.${oldestMinor}`, "upgrade the cluster"));
  const needed = new Set(builtInArgumentKinds.map(({ resource }) => resource.apiVersion));
  if (serving.some((wave) => elects(wave))) needed.add("coordination.k8s.io/v1");
  if (serving.some((wave) => wave.values["enable-webhooks"])) needed.add("admissionregistration.k8s.io/v1");
  const groups = await tryRead("get /apis", () => cluster.client.request<GroupList>({ method: "GET", path: "/apis" }));
  if ("unread" in groups) found.push(notRead(null, "which APIs are served", groups));
  else {
    const served = new Set(groups.read.groups.flatMap(({ versions }) => versions.map((each) => each.groupVersion)));
    for (const each of needed)
      if (!served.has(each)) found.push(problem(null, `the API server does not serve ${each}`, "kubectl api-versions"));
  }
  const kinds = serving.flatMap((wave) => (wantedKinds(wave.values) ?? []).map((kind) => ({ wave, kind })));
  const absent = await mapBounded(kinds, async ({ wave, kind }): Promise<readonly Finding[]> => {
    const resource = await tryRead("get /apis", () => findResource(cluster.client, kind));
    if ("unread" in resource) return [notRead(deploymentRef(wave), `whether ${kind.id} is served`, resource)];
    if (resource.read !== undefined) return [];
    const what = `--workload-kinds names ${kind.id}, which the API server does not serve: nothing of it is rolled`;
    return [warning(deploymentRef(wave), what, "kubectl api-resources")];
  });
  return { found: [...found, ...absent.flat()], fine: `Kubernetes ${serverVersion}` };
}
