import type { Service } from "kubernetes-types/core/v1.d.ts";
import type { EndpointSlice } from "kubernetes-types/discovery/v1.d.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resources } from "../../kube/api/resources.ts";
import type { MutatingWebhook } from "../../webhook/certificates/configuration.ts";
import { tokenIn } from "../../webhook/certificates/path-token.ts";
import { listAll } from "../cluster/list-all.ts";
import { type ReadResult, tryRead } from "../cluster/read-result.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { checkCertificate } from "./certificates.ts";
import { type DoctorContext, deploymentRef, reinstall } from "./doctor-context.ts";
import { type CheckResult, type Finding, kubectlArguments, notRead, type ObjectRef, problem, unchecked, warning } from "./finding.ts";
import { readObject } from "./read-object.ts";
import { probeWebhook } from "./webhook-probe.ts";

/** A MutatingWebhookConfiguration as it is stored. */
export interface StoredConfiguration extends KubeObject {
  readonly webhooks?: readonly MutatingWebhook[];
}

/** Whether the API server asks Wave about workloads where it is to, gets an answer, and trusts it. */
export async function checkWebhook(doctorContext: DoctorContext): Promise<CheckResult> {
  const each = await Promise.all(doctorContext.serving.map((wave) => webhookOf(doctorContext, wave)));
  return { found: each.flatMap(({ found }) => found), fine: each.map(({ fine }) => fine).join(", ") };
}

async function webhookOf(doctorContext: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const service = wave.values["webhook-service-name"];
  const where: ObjectRef = { kind: "MutatingWebhookConfiguration", namespace: null, name: service };
  const stored = await readObject<StoredConfiguration>(doctorContext, resources.mutatingWebhookConfigurations, where);
  if (!wave.values["enable-webhooks"])
    return { found: leftOver(stored, where), fine: "off: the controller alone writes hashes" };
  if (wave.values["webhook-url"] !== undefined)
    return {
      found: [unchecked(deploymentRef(wave), "its webhook: it is called by --webhook-url, and no Service")],
      fine: "",
    };
  if ("unread" in stored) return { found: [notRead(where, "whether it is registered", stored)], fine: "" };
  if (stored.read === undefined)
    return {
      found: [problem(where, "it does not exist: the API server asks Wave about no workload", reinstall(wave))],
      fine: "",
    };
  const callers = (stored.read.webhooks ?? []).filter(
    ({ clientConfig: { service: called } }) => called?.name === service && called.namespace === wave.namespace,
  );
  const [first] = callers;
  if (first === undefined) {
    const what = `no webhook of it calls the Service ${service} in ${wave.namespace}`;
    return { found: [problem(where, what, reinstall(wave))], fine: "" };
  }
  const [reached, trusted] = await Promise.all([
    endpointsOf(doctorContext, { kind: "Service", namespace: wave.namespace, name: service }, wave),
    checkCertificate(doctorContext, wave, first, where),
  ]);
  const before = [...registered(first, where, wave), ...reached, ...trusted.found];
  // What is found to be broken needs no try, which would wait for it.
  const tried = before.some(({ severity }) => severity === "problem")
    ? []
    : await probeWebhook(doctorContext, wave, first, where);
  return { found: [...before, ...tried], fine: `${service} answers, ${trusted.fine}` };
}

/** With failurePolicy Fail it keeps everybody from creating workloads. */
function leftOver(stored: ReadResult<StoredConfiguration | undefined>, where: ObjectRef): readonly Finding[] {
  if ("unread" in stored || stored.read === undefined) return [];
  const fails = stored.read.webhooks?.some(({ failurePolicy }) => failurePolicy === "Fail");
  const what = "it is left over: Wave runs without --enable-webhooks";
  const fix = `kubectl delete ${kubectlArguments(where)}`;
  return [
    fails
      ? problem(where, `${what}, and with failurePolicy Fail nobody can create workloads`, fix)
      : warning(where, what, fix),
  ];
}

function registered(
  { clientConfig, failurePolicy }: MutatingWebhook,
  where: ObjectRef,
  wave: RunningWave,
): readonly Finding[] {
  const logs = `kubectl logs ${kubectlArguments(deploymentRef(wave))}`;
  return [
    ...(tokenIn(clientConfig) === undefined
      ? [problem(where, "it calls Wave by no path that Wave answers: Wave has not registered itself", logs)]
      : []),
    ...(failurePolicy === "Fail"
      ? [
          warning(
            where,
            "failurePolicy is Fail: while Wave does not answer, workloads that concern it cannot be created",
            null,
          ),
        ]
      : []),
  ];
}

async function endpointsOf(doctorContext: DoctorContext, where: ObjectRef, wave: RunningWave): Promise<readonly Finding[]> {
  const service = await readObject<KubeObject & Service>(doctorContext, resources.services, where);
  if ("unread" in service) return [notRead(where, "whether it exists", service)];
  if (service.read === undefined)
    return [problem(where, "it does not exist: the webhook is not reached", reinstall(wave))];
  // Names of other hosts have no endpoints.
  if (service.read.spec?.type === "ExternalName") return [];
  const scope = { namespace: wave.namespace, labelSelector: `kubernetes.io/service-name=${where.name}` };
  const slices = await tryRead(`list endpointslices in ${wave.namespace}`, () =>
    listAll<KubeObject & EndpointSlice, number>(doctorContext.cluster.client, resources.endpointSlices, scope, ready),
  );
  if ("unread" in slices) return [notRead(where, "whether it has ready endpoints", slices)];
  if (slices.read.some((count) => count > 0)) return [];
  const fix = `kubectl get pods -n ${wave.namespace}`;
  return [problem(where, "it has no ready endpoint: the webhook is not reached", fix)];
}

/** No condition means that it is ready (https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions). */
function ready({ endpoints }: EndpointSlice): number {
  return (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false).length;
}
