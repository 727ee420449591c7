import type { Deployment, EndpointSlice, Service } from "#kubernetes";
import { annotationPrefix, configHash, updateOnConfigChange } from "../../../domain/references/annotations.ts";
import { isForbidden } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../../kube/api/resources.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { MutatingWebhook, StoredConfiguration } from "../../../webhook/certificates/configuration.ts";
import { tokenIn } from "../../../webhook/certificates/path-token.ts";
import { tryList } from "../../cluster/requests.ts";
import { hasReadyReplica, type RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { sentences } from "../../output/sentences.ts";
import {
  type DoctorContext,
  deploymentRef,
  forEachWave,
  notReady,
  readObject,
  reinstall,
} from "../context/doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  notRead,
  type ObjectRef,
  problem,
  unchecked,
  warning,
} from "../context/finding.ts";
import { checkCertificate } from "./certificates.ts";
import { mayReadConfiguration } from "./permissions.ts";

/** Checks that the webhook is registered if its flags want it, that the API server reaches it, and that its certificate is trusted. */
export function checkWebhook(doctorContext: DoctorContext): Promise<CheckResult> {
  return forEachWave(doctorContext, (wave) => webhookOf(doctorContext, wave));
}

async function webhookOf(doctorContext: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const service = wave.values["webhook-service-name"];
  const where: ObjectRef = { kind: "MutatingWebhookConfiguration", namespace: null, name: service };
  if (!wave.values["enable-webhooks"]) return { found: [], fine: "off, only the controller writes hashes" };
  if (!hasReadyReplica(wave)) return notReady(wave);
  if (wave.values["webhook-url"] !== undefined) {
    const what = "The webhook was not checked. With --webhook-url, the API server calls the webhook without a Service.";
    return { found: [unchecked(deploymentRef(wave), what)] };
  }
  const stored = await readObject<StoredConfiguration>(doctorContext, resources.mutatingWebhookConfigurations, where);
  if ("unread" in stored) return { found: [notRead(where, "The registration of the webhook was not checked", stored)] };
  if (stored.read === undefined) {
    const what =
      "The webhook is not registered. The configuration does not exist, so the API server does not call Wave.";
    return { found: [problem(where, what, reinstall(wave))] };
  }
  const callers = (stored.read.webhooks ?? []).filter(
    ({ clientConfig: { service: called } }) => called?.name === service && called.namespace === wave.namespace,
  );
  const [first] = callers;
  if (first === undefined) {
    const what = `No webhook in this configuration calls Service ${service} in ${wave.namespace}.`;
    return { found: [problem(where, what, reinstall(wave))] };
  }
  const [reached, trusted] = await Promise.all([
    endpointsOf(doctorContext, { kind: "Service", namespace: wave.namespace, name: service }, wave),
    checkCertificate(doctorContext, wave, first, where),
  ]);
  const before = [...registered(first, where, wave), ...reached, ...trusted.found];
  // A probe of a broken webhook would only wait for its timeout.
  const tried = before.some(({ severity }) => severity === "problem")
    ? []
    : await probeWebhook(doctorContext, wave, first, where);
  return { found: [...before, ...tried], fine: `${service} answers, ${trusted.fine}` };
}

function registered(
  { clientConfig, failurePolicy }: MutatingWebhook,
  where: ObjectRef,
  wave: RunningWave,
): readonly Finding[] {
  const found: Finding[] = [];
  if (tokenIn(clientConfig) === undefined) {
    const what = "Wave has not registered itself. The configuration calls a path that Wave does not serve.";
    found.push(problem(where, what, `kubectl logs ${kubectlArguments(deploymentRef(wave))}`));
  }
  if (failurePolicy === "Fail") {
    const what = "failurePolicy is Fail. While Wave is down, workloads that the webhook selects cannot be created.";
    found.push(warning(where, what, null));
  }
  return found;
}

async function endpointsOf(
  doctorContext: DoctorContext,
  where: ObjectRef,
  wave: RunningWave,
): Promise<readonly Finding[]> {
  const service = await readObject<KubeObject & Service>(doctorContext, resources.services, where);
  if ("unread" in service) return [notRead(where, "The Service was not checked", service)];
  if (service.read === undefined)
    return [
      problem(where, "The Service does not exist, so the API server does not reach the webhook.", reinstall(wave)),
    ];
  // A Service of type ExternalName has no endpoints.
  if (service.read.spec?.type === "ExternalName") return [];
  const scope = { namespace: wave.namespace, labelSelector: `kubernetes.io/service-name=${where.name}` };
  const slices = await tryList(doctorContext.cluster.client, resources.endpointSlices, scope, ready);
  if ("unread" in slices) return [notRead(where, "The endpoints were not checked", slices)];
  if (slices.read.some((count) => count > 0)) return [];
  const fix = `kubectl get pods -n ${wave.namespace}`;
  return [problem(where, "The Service has no ready endpoint, so the API server does not reach the webhook.", fix)];
}

/** Counts the ready endpoints. No condition means ready (https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions). */
function ready({ endpoints }: KubeObject & EndpointSlice): number {
  return (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false).length;
}

/**
 * Checks that the API server reaches the webhook: creates a Deployment as a dry run, which returns with a hash if the webhook was
 * called. Only the API server needs to reach the webhook. Nothing is stored.
 */
async function probeWebhook(
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
    const what = `The webhook was not called. You do not have permission to ${permission}, which the dry run needs.`;
    return [unchecked(where, what, [permission])];
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
