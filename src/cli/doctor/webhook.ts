import type { Service } from "kubernetes-types/core/v1.d.ts";
import type { EndpointSlice } from "kubernetes-types/discovery/v1.d.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resources } from "../../kube/api/resources.ts";
import type { MutatingWebhook } from "../../webhook/certificates/configuration.ts";
import { tokenIn } from "../../webhook/certificates/path-token.ts";
import { listAll } from "../cluster/list-all.ts";
import { type Read, reading } from "../cluster/reading.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { certificates } from "./certificates.ts";
import { type DoctorContext, placeOf, reinstall } from "./doctor-context.ts";
import { type Examined, type Found, kubectlName, notRead, type Place, problem, unchecked, warning } from "./finding.ts";
import { readOne } from "./stored.ts";
import { tryOut } from "./webhook-try.ts";

/** A MutatingWebhookConfiguration as it is stored. */
export interface StoredConfiguration extends KubeObject {
  readonly webhooks?: readonly MutatingWebhook[];
}

/** Whether the API server asks Wave about workloads where it is to, gets an answer, and trusts it. */
export async function webhook(doctorContext: DoctorContext): Promise<Examined> {
  const each = await Promise.all(doctorContext.serving.map((wave) => webhookOf(doctorContext, wave)));
  return { found: each.flatMap(({ found }) => found), fine: each.map(({ fine }) => fine).join(", ") };
}

async function webhookOf(doctorContext: DoctorContext, wave: RunningWave): Promise<Examined> {
  const service = wave.values["webhook-service-name"];
  const where: Place = { kind: "MutatingWebhookConfiguration", namespace: null, name: service };
  const stored = await readOne<StoredConfiguration>(doctorContext, resources.mutatingWebhookConfigurations, where);
  if (!wave.values["enable-webhooks"])
    return { found: leftOver(stored, where), fine: "off: the controller alone writes hashes" };
  if (wave.values["webhook-url"] !== undefined)
    return {
      found: [unchecked(placeOf(wave), "its webhook: it is called by --webhook-url, and no Service")],
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
    certificates(doctorContext, wave, first, where),
  ]);
  const before = [...registered(first, where, wave), ...reached, ...trusted.found];
  // What is found to be broken needs no try, which would wait for it.
  const tried = before.some(({ severity }) => severity === "problem")
    ? []
    : await tryOut(doctorContext, wave, first, where);
  return { found: [...before, ...tried], fine: `${service} answers, ${trusted.fine}` };
}

/** With failurePolicy Fail it keeps everybody from creating workloads. */
function leftOver(stored: Read<StoredConfiguration | undefined>, where: Place): readonly Found[] {
  if ("unread" in stored || stored.read === undefined) return [];
  const fails = stored.read.webhooks?.some(({ failurePolicy }) => failurePolicy === "Fail");
  const what = "it is left over: Wave runs without --enable-webhooks";
  const fix = `kubectl delete ${kubectlName(where)}`;
  return [
    fails
      ? problem(where, `${what}, and with failurePolicy Fail nobody can create workloads`, fix)
      : warning(where, what, fix),
  ];
}

function registered(
  { clientConfig, failurePolicy }: MutatingWebhook,
  where: Place,
  wave: RunningWave,
): readonly Found[] {
  const logs = `kubectl logs ${kubectlName(placeOf(wave))}`;
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

async function endpointsOf(doctorContext: DoctorContext, where: Place, wave: RunningWave): Promise<readonly Found[]> {
  const service = await readOne<KubeObject & Service>(doctorContext, resources.services, where);
  if ("unread" in service) return [notRead(where, "whether it exists", service)];
  if (service.read === undefined)
    return [problem(where, "it does not exist: the webhook is not reached", reinstall(wave))];
  // Names of other hosts have no endpoints.
  if (service.read.spec?.type === "ExternalName") return [];
  const scope = { namespace: wave.namespace, labelSelector: `kubernetes.io/service-name=${where.name}` };
  const slices = await reading(`list endpointslices in ${wave.namespace}`, () =>
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
