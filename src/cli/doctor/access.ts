import type { SelfSubjectAccessReview } from "kubernetes-types/authorization/v1.d.ts";
import { enumerated } from "../../domain/syntax/wording.ts";
import { type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import { mapBounded } from "../cluster/map-bounded.ts";
import { tryRead, inScope } from "../cluster/read-result.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { type CheckResult, type Finding, notRead, problem, unchecked } from "./finding.ts";
import { readObject } from "./read-object.ts";

/** Whether whoever asks may read what workloads hang on: said first, because what they may not is unknown in the rest. */
export async function checkAccess(doctorContext: DoctorContext): Promise<CheckResult> {
  const { cluster, namespace, policy } = doctorContext;
  const looked: readonly Resource[] = [...policy.kinds, resources.configMaps, resources.secrets, resources.pods];
  const absent = namespace === undefined ? [] : await whetherThere(doctorContext, namespace);
  const where = inScope(namespace);
  const answers = await tryRead("create selfsubjectaccessreviews", () =>
    mapBounded(looked, async ({ plural, apiVersion }) => {
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
  if ("unread" in answers) return { found: [...absent, notRead(null, "what you may read", answers)], fine: "" };
  const refused = answers.read.flatMap((each) => each ?? []);
  const needs = refused.map((plural) => `list ${plural} ${where}`);
  const what = `you may not list ${enumerated(refused, refused.length, String)} ${where}: what hangs on them is not known here`;
  return {
    found: refused.length === 0 ? absent : [...absent, unchecked(null, what, needs)],
    fine: `you may list all that is looked at ${where}`,
  };
}

async function whetherThere(doctorContext: DoctorContext, namespace: string): Promise<readonly Finding[]> {
  const place = { kind: "Namespace", namespace: null, name: namespace };
  const there = await readObject(doctorContext, resources.namespaces, place);
  if ("unread" in there || there.read !== undefined) return [];
  return [problem(place, "it does not exist", `kubectl create namespace ${namespace}`)];
}
