import { workloadRows } from "../workload-argument.ts";
import { type Examined, type Found, problem, reading, unchecked } from "./finding.ts";
import { isOn, type Patient } from "./patient.ts";

/** The oldest Kubernetes that Wave runs on, as the chart has it: 1 and this. */
export const oldestMinor = 30;

interface GroupList {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

/** Whether the API server is new enough, and serves the kinds that Wave needs as it is told. */
export async function apiVersions({ cluster, serverVersion, serving }: Patient): Promise<Examined> {
  const found: Found[] = [];
  const minor = /^v1\.(\d+)/.exec(serverVersion ?? "")?.[1];
  if (serverVersion === undefined) found.push(unchecked(null, "the API server does not say its version"));
  else if (minor !== undefined && Number(minor) < oldestMinor)
    found.push(problem(null, `Kubernetes ${serverVersion} is older than 1.${oldestMinor}`, "upgrade the cluster"));
  const needed = new Set(workloadRows.map(({ resource }) => resource.apiVersion));
  if (serving.some((wave) => isOn(wave, "leader-election") || isOn(wave, "enable-ha")))
    needed.add("coordination.k8s.io/v1");
  if (serving.some((wave) => isOn(wave, "enable-webhooks"))) needed.add("admissionregistration.k8s.io/v1");
  const groups = await reading("get /apis", () => cluster.client.request<GroupList>({ method: "GET", path: "/apis" }));
  if ("unread" in groups) found.push(unchecked(null, `which APIs are served: ${groups.unread}`));
  else {
    const served = new Set(groups.read.groups.flatMap(({ versions }) => versions.map((each) => each.groupVersion)));
    for (const each of needed)
      if (!served.has(each)) found.push(problem(null, `the API server does not serve ${each}`, "kubectl api-versions"));
  }
  return { found, fine: `Kubernetes ${serverVersion}` };
}
