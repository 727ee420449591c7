import type { Pod } from "kubernetes-types/core/v1.d.ts";
import { enumerated } from "../../domain/syntax/wording.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resources } from "../../kube/api/resources.ts";
import { describeWave } from "../cluster/effective-flags.ts";
import { listAll } from "../cluster/list-all.ts";
import { podSelector } from "../cluster/pods.ts";
import { tryRead } from "../cluster/read-result.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { version } from "../command/version.ts";
import { type DoctorContext, deploymentRef } from "./doctor-context.ts";
import { type CheckResult, type Finding, kubectlArguments, notRead, problem, warning } from "./finding.ts";

/** Whether Wave runs for what is looked at, once, with all of its replicas, and as the version of this command. */
export async function checkInstallation(doctorContext: DoctorContext): Promise<CheckResult> {
  const { waves, serving } = doctorContext;
  if ("unread" in waves)
    return {
      found: [notRead(null, "which Wave runs, with which flags, permissions, leader and webhook", waves)],
      fine: "",
    };
  const [first] = serving;
  if (first === undefined) return { found: [whyNone(waves, doctorContext.namespace)], fine: "" };
  const states = await Promise.all(serving.map((wave) => replicasOf(doctorContext, wave)));
  const found = [...overlaps(serving), ...serving.flatMap(otherVersion), ...states.flatMap((state) => state.found)];
  return { found, fine: states.map(({ fine }) => fine).join(", ") };
}

function whyNone(waves: readonly RunningWave[], namespace: string | undefined): Finding {
  const [wave] = waves;
  if (wave === undefined) {
    const what =
      'no Wave runs: no Deployment with the label app.kubernetes.io/name=wave runs "wave run"; outside of the cluster it is not seen';
    const install =
      "helm install wave deploy/chart -n wave-system --create-namespace --set image.repository=IMAGE  # docs/install.md: how to make it";
    return problem(null, what, install);
  }
  const place = deploymentRef(wave);
  if (wave.object.spec?.replicas === 0)
    return problem(place, "it is scaled to 0: nothing is rolled", `kubectl scale ${kubectlArguments(place)} --replicas=2`);
  const served = wave.values.namespaces;
  return problem(place, `it does not serve ${namespace}: --namespaces=${served}`, `add ${namespace} to its namespaces`);
}

/** Two of them would both roll the same workloads. */
function overlaps(serving: readonly RunningWave[]): readonly Finding[] {
  const servedBy = (wave: RunningWave) => wave.values.namespaces;
  return serving.flatMap((wave, index) =>
    serving.slice(index + 1).flatMap((other) => {
      const [own, others] = [servedBy(wave), servedBy(other)];
      if (own !== undefined && others !== undefined && !own.some((each) => others.includes(each))) return [];
      const what = `${describeWave(other)} rolls the same workloads`;
      return [problem(deploymentRef(wave), what, `kubectl scale ${kubectlArguments(deploymentRef(other))} --replicas=0`)];
    }),
  );
}

function otherVersion(wave: RunningWave): readonly Finding[] {
  const running = wave.object.metadata.labels?.["app.kubernetes.io/version"];
  if (running === undefined || running === version()) return [];
  const what = `it is Wave ${running}, and this command ${version()}: it may decide otherwise than is told here`;
  return [warning(deploymentRef(wave), what, `use the command of Wave ${running}`)];
}

async function replicasOf({ cluster }: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const place = deploymentRef(wave);
  const { replicas = 1, selector } = wave.object.spec ?? {};
  const { readyReplicas: ready = 0 } = wave.object.status ?? {};
  const fine = `${describeWave(wave)}, ${ready} of ${replicas} ready`;
  if (ready >= replicas) return { found: [], fine };
  const scope = { namespace: wave.namespace, labelSelector: podSelector(selector) };
  const pods = await tryRead(`list pods in ${wave.namespace}`, () =>
    listAll<KubeObject & Pod, string>(cluster.client, resources.pods, scope, whyNotReady),
  );
  const whys = "read" in pods ? [...new Set(pods.read)] : [];
  const none = "read" in pods && whys.length === 0 ? ["there are no Pods of it"] : whys;
  const what = `${ready} of ${replicas} replicas are ready${none.length === 0 ? "" : `: ${enumerated(none, 3, String)}`}`;
  const fix = none === whys ? `kubectl logs ${kubectlArguments(place)}` : `kubectl describe ${kubectlArguments(place)}`;
  return { found: [(ready === 0 ? problem : warning)(place, what, fix)], fine };
}

/** Why a Pod is not ready, as its containers tell it; undefined where it is. */
function whyNotReady({ metadata, spec, status }: KubeObject & Pod): string | undefined {
  if (metadata.deletionTimestamp || status?.conditions?.some((each) => each.type === "Ready" && each.status === "True"))
    return undefined;
  for (const { state = {}, lastState = {} } of status?.containerStatuses ?? []) {
    const { exitCode } = state.terminated ?? lastState.terminated ?? {};
    const ended = exitCode === undefined ? "" : ` (it ended with exit code ${exitCode})`;
    if (state.waiting?.reason) return `${state.waiting.reason}${ended}`;
    if (exitCode !== undefined) return `its container ended with exit code ${exitCode}`;
  }
  return spec?.nodeName === undefined
    ? "no node was found for its Pod"
    : "its Pod runs, and /readyz says that it is not ready";
}
