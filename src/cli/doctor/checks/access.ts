import type { SelfSubjectAccessReview } from "#kubernetes";
import { formatList } from "../../../domain/syntax/wording.ts";
import { type Resource, resourcePath, resources } from "../../../kube/api/resources.ts";
import { mapBounded } from "../../cluster/requests/map-bounded.ts";
import { inScope, tryRead } from "../../cluster/requests/read-result.ts";
import type { DoctorContext } from "../context/doctor-context.ts";
import { type CheckResult, type Finding, notRead, problem, unchecked } from "../context/finding.ts";
import { readObject } from "../context/read-object.ts";

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
