import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import { annotationPrefix, configHash, updateOnConfigChange } from "../../domain/references/annotations.ts";
import { isForbidden } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { MutatingWebhook } from "../../webhook/certificates/configuration.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { type DoctorContext, deploymentRef } from "./doctor-context.ts";
import { type Finding, kubectlArguments, type ObjectRef, problem, unchecked } from "./finding.ts";

/**
 * Whether the webhook answers, as the API server sees it, which alone is to reach it: a workload that is only tried, and comes
 * back with a hash where Wave was asked. Nothing is stored.
 */
export async function probeWebhook(
  { cluster, namespace }: DoctorContext,
  wave: RunningWave,
  { failurePolicy, namespaceSelector, objectSelector }: MutatingWebhook,
  where: ObjectRef,
): Promise<readonly Finding[]> {
  if (wave.values.observe)
    return [unchecked(where, "whether Wave answers: with --observe it answers nothing that shows")];
  const served = wave.values.namespaces;
  const tried = namespace ?? served?.[0] ?? wave.namespace;
  const logs = `kubectl logs ${kubectlArguments(deploymentRef(wave))}`;
  try {
    const query = { dryRun: "All", fieldManager: "wave-cli" };
    const path = resourcePath(resources.deployments, { namespace: tried });
    const answer = await cluster.client.request<Deployment>({ method: "POST", path, query, body: harmless() });
    const hash = answer.spec?.template.metadata?.annotations?.[configHash];
    if (hash !== undefined) return [];
    const selects = Object.keys({ ...namespaceSelector, ...objectSelector }).length > 0;
    const perhaps = selects ? ", or its selectors leave it out" : "";
    const what = `a workload that was tried in ${tried} came back without a hash: the API server does not reach Wave${perhaps}`;
    return [problem(where, what, logs)];
  } catch (error) {
    // The path is a secret.
    const why = errorText(error).replace(/\/mutate\/[\w-]+/g, "/mutate/…");
    if (/failed calling webhook/.test(why) && failurePolicy === "Fail")
      return [problem(where, `the API server does not reach Wave: ${why}`, logs)];
    const byRole = isForbidden(error) && / cannot create resource /.test(why);
    if (!byRole) return [unchecked(where, `whether Wave answers: ${why}`)];
    const permission = `create deployments in ${tried}`;
    return [unchecked(where, `whether Wave answers: you may not ${permission}, which is only tried`, [permission])];
  }
}

/** It reads something that need not exist, so that Wave gives it a hash, and is as the strictest policies want it. */
function harmless(): Deployment {
  const labels = { app: "wave-doctor" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      generateName: "wave-doctor-",
      // What its Namespace says to the contrary does not count then.
      annotations: { [updateOnConfigChange]: "true", [`${annotationPrefix}mode`]: "roll" },
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: "none",
              image: "none",
              envFrom: [{ configMapRef: { name: "wave-doctor", optional: true } }],
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            },
          ],
        },
      },
    },
  };
}
