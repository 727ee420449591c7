import type { Deployment } from "#kubernetes";
import { annotationPrefix, configHash, updateOnConfigChange } from "../../../domain/references/annotations.ts";
import { isForbidden } from "../../../kube/api/errors.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { MutatingWebhook } from "../../../webhook/certificates/configuration.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { sentences } from "../../output/sentences.ts";
import { type DoctorContext, deploymentRef } from "../context/doctor-context.ts";
import { type Finding, kubectlArguments, type ObjectRef, problem, unchecked } from "../context/finding.ts";
import { mayReadConfiguration } from "./permissions.ts";

/**
 * Checks that the API server reaches the webhook: creates a Deployment as a dry run, which returns with a hash if the webhook was
 * called. Only the API server needs to reach the webhook. Nothing is stored.
 */
export async function probeWebhook(
  doctorContext: DoctorContext,
  wave: RunningWave,
  { failurePolicy, namespaceSelector, objectSelector }: MutatingWebhook,
  where: ObjectRef,
): Promise<readonly Finding[]> {
  const { cluster, namespace } = doctorContext;
  if (wave.values.observe)
    return [unchecked(where, "The webhook was not called, because with --observe it changes nothing.")];
  const watched = wave.values.namespaces;
  const target = namespace ?? watched?.[0] ?? wave.namespace;
  const logs = `kubectl logs ${kubectlArguments(deploymentRef(wave))}`;
  try {
    const query = { dryRun: "All", fieldManager: "wave-cli" };
    const path = resourcePath(resources.deployments, { namespace: target });
    const answer = await cluster.client.request<Deployment>({ method: "POST", path, query, body: probe() });
    const hash = answer.spec?.template.metadata?.annotations?.[configHash];
    if (hash !== undefined) return [];
    if ((await mayReadConfiguration(doctorContext, wave, target)) === false) {
      const cause = `Wave does not have permission to read ConfigMaps in ${target}, so it cannot add a hash`;
      return [unchecked(where, sentences("The webhook was not checked", cause))];
    }
    const selects = Object.keys({ ...namespaceSelector, ...objectSelector }).length > 0;
    const perhaps = selects ? ", or the selectors of the webhook exclude it" : "";
    const what = `A dry run of a workload in ${target} returned without a hash. The API server does not reach Wave${perhaps}.`;
    return [problem(where, what, logs)];
  } catch (error) {
    // The path of the webhook is a secret.
    const why = errorText(error).replace(/\/mutate\/[\w-]+/g, "/mutate/…");
    if (/failed calling webhook/.test(why) && failurePolicy === "Fail")
      return [problem(where, sentences(`The API server does not reach Wave: ${why}`), logs)];
    const byRole = isForbidden(error) && / cannot create resource /.test(why);
    if (!byRole) return [unchecked(where, sentences(`The webhook was not called: ${why}`))];
    const permission = `create deployments in ${target}`;
    return [
      unchecked(
        where,
        `The webhook was not called. You do not have permission to ${permission}, which the dry run needs.`,
        [permission],
      ),
    ];
  }
}

/** Returns a Deployment that reads an optional ConfigMap, so that Wave gives it a hash, and that satisfies strict admission policies. */
function probe(): Deployment {
  const labels = { app: "wave-doctor" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      generateName: "wave-doctor-",
      // These annotations take precedence over those of the Namespace.
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
