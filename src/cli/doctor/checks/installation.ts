import type { Pod } from "#kubernetes";
import { holdTexts } from "../../../domain/pacing/hold-texts.ts";
import { podSelector } from "../../../domain/pods/pod-selector.ts";
import { quoted } from "../../../domain/syntax/wording.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import { listAll } from "../../cluster/requests/list-all.ts";
import { tryRead } from "../../cluster/requests/read-result.ts";
import { describeWave } from "../../cluster/running-wave/effective-flags.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { docsAddress } from "../../command/docs-pages.ts";
import { version } from "../../command/version.ts";
import { sentences } from "../../output/sentences.ts";
import { type DoctorContext, deploymentRef } from "../context/doctor-context.ts";
import { type CheckResult, type Finding, kubectlArguments, notRead, problem, warning } from "../context/finding.ts";

/** Checks that exactly one Wave watches the namespace, in the version of this command, with all replicas ready. */
export async function checkInstallation(doctorContext: DoctorContext): Promise<CheckResult> {
  const { waves, watching } = doctorContext;
  if ("unread" in waves)
    return {
      found: [notRead(null, "The flags, permissions, leader and webhook of the running Wave were not checked", waves)],
    };
  const [first] = watching;
  if (first === undefined) return { found: [noWave(waves, doctorContext.namespace)] };
  const states = await Promise.all(watching.map((wave) => replicasOf(doctorContext, wave)));
  const found = [
    ...heldFindings(doctorContext),
    ...overlaps(watching),
    ...watching.flatMap(otherVersion),
    ...states.flatMap((state) => state.found),
  ];
  return { found, fine: states.map(({ fine }) => fine).join(", ") };
}

/** Finds a hold of every rollout. It is one finding, however many workloads are due. */
function heldFindings({ policy: { clusterHold } }: DoctorContext): readonly Finding[] {
  if (clusterHold === undefined) return [];
  const place = { kind: "Namespace", namespace: null, name: clusterHold.namespace };
  return [warning(place, holdTexts.clusterHold(clusterHold), "wave release --cluster")];
}

function noWave(waves: readonly RunningWave[], namespace: string | undefined): Finding {
  const [wave] = waves;
  if (wave === undefined) {
    const what =
      'No Wave runs in this cluster. No Deployment with the label app.kubernetes.io/name=wave runs "wave run". A Wave outside the cluster is not visible here.';
    const install = `Install Wave: ${docsAddress("install")}`;
    return problem(null, what, install);
  }
  const place = deploymentRef(wave);
  if (wave.object.spec?.replicas === 0)
    return problem(
      place,
      "Wave is scaled to 0, so nothing rolls.",
      `kubectl scale ${kubectlArguments(place)} --replicas=2`,
    );
  const watched = wave.values.namespaces;
  const what = `Wave does not watch namespace ${namespace}. Its flag is --namespaces=${watched}.`;
  return problem(place, what, `Add ${namespace} to --namespaces.`);
}

/** Finds Waves that watch the same namespaces and would roll the same workloads. */
/** Finds Waves that roll the same workloads. The advice keeps the Wave that was installed first. */
function overlaps(watching: readonly RunningWave[]): readonly Finding[] {
  const rolling = watching
    .filter(({ values }) => !values.observe)
    .toSorted((a, b) => createdAt(a) - createdAt(b) || a.namespace.localeCompare(b.namespace));
  return rolling.flatMap((wave, index) =>
    rolling.slice(index + 1).flatMap((other) => {
      const [own, others] = [wave.values.namespaces, other.values.namespaces];
      if (own !== undefined && others !== undefined && !own.some((each) => others.includes(each))) return [];
      const what = `Two Waves roll the same workloads. The one that was installed later is ${describeWave(other)}.`;
      return [
        problem(deploymentRef(wave), what, `kubectl scale ${kubectlArguments(deploymentRef(other))} --replicas=0`),
      ];
    }),
  );
}

function createdAt({ object }: RunningWave): number {
  return Date.parse(object.metadata.creationTimestamp ?? "") || 0;
}

function otherVersion(wave: RunningWave): readonly Finding[] {
  const running = wave.object.metadata.labels?.["app.kubernetes.io/version"];
  if (running === undefined || running === version()) return [];
  const what = `Wave ${running} runs, but this command is ${version()}. Wave may decide differently from what this command shows.`;
  return [warning(deploymentRef(wave), what, `Use the command of Wave ${running}.`)];
}

async function replicasOf({ cluster }: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const ref = deploymentRef(wave);
  const { replicas = 1, selector } = wave.object.spec ?? {};
  const { readyReplicas: ready = 0, updatedReplicas: updated = 0, unavailableReplicas = 0 } = wave.object.status ?? {};
  const fine = `${describeWave(wave)}, ${ready} of ${replicas} ready`;
  const isUpgrading = updated < replicas || unavailableReplicas > 0;
  if (ready >= replicas && !isUpgrading) return { found: [], fine };
  const scope = { namespace: wave.namespace, labelSelector: podSelector(selector) };
  const pods = await tryRead(`list pods in ${wave.namespace}`, () =>
    listAll<KubeObject & Pod, UnreadyPod>(cluster.client, resources.pods, scope, unreadyPod),
  );
  const unready = "read" in pods ? pods.read : [];
  if (ready >= replicas) return { found: upgradeFindings(unready, wave), fine };
  const causes = "read" in pods && unready.length === 0 ? ["There are no Pods"] : unready.map(({ cause }) => cause);
  const what = sentences(`${ready} of ${replicas} replicas are ready`, ...[...new Set(causes)].slice(0, mostCauses));
  return { found: [(ready === 0 ? problem : warning)(ref, what, fixOf(unready, wave))], fine };
}

/** Finds an upgrade whose new Pods do not become ready. The old Pods still work, so all replicas are ready. */
function upgradeFindings(unready: readonly UnreadyPod[], wave: RunningWave): readonly Finding[] {
  const failing = unready.find(({ imageFailed, hasExited }) => imageFailed || hasExited);
  if (failing === undefined) return [];
  const ref = deploymentRef(wave);
  const logs = `kubectl logs ${kubectlArguments({ ...ref, kind: "Pod", name: failing.name })} --previous`;
  const what = sentences("The upgrade of Wave does not finish, and the old Pods still run", failing.cause);
  return [problem(ref, what, failing.imageFailed ? imageFix(wave) : logs)];
}

/** How many causes a finding names: replicas of one Deployment usually have the same cause. */
const mostCauses = 3;

/** A Pod of Wave that is not ready. */
interface UnreadyPod {
  /** One sentence, without a full stop. */
  readonly cause: string;
  /** Whether the image cannot be pulled, so that there are no logs. */
  readonly imageFailed: boolean;
  readonly hasLogs: boolean;
  /** Whether a container ended, and perhaps starts again. */
  readonly hasExited: boolean;
  readonly name: string;
}

/** The reasons of the kubelet for an image that it cannot pull. */
const imageReasons: readonly string[] = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"];

/** Returns why a Pod of Wave is not ready; undefined if the Pod is ready or being deleted. */
function unreadyPod({ metadata, spec, status }: KubeObject & Pod): UnreadyPod | undefined {
  if (metadata.deletionTimestamp || status?.conditions?.some((each) => each.type === "Ready" && each.status === "True"))
    return undefined;
  const { name } = metadata;
  const other = { imageFailed: false, hasLogs: false, hasExited: false, name };
  for (const { image, state = {}, lastState = {} } of status?.containerStatuses ?? []) {
    const { exitCode } = state.terminated ?? lastState.terminated ?? {};
    const { reason } = state.waiting ?? {};
    const exited = `The container exited with code ${exitCode}`;
    const hasExited = exitCode !== undefined;
    const one = { ...other, hasLogs: hasExited, hasExited };
    if (reason !== undefined && imageReasons.includes(reason))
      return { ...one, cause: `Kubernetes cannot pull image ${quoted(image)} (${reason})`, imageFailed: true };
    if (reason) return { ...one, cause: hasExited ? `${exited} (${reason})` : `Waiting: ${reason}` };
    if (hasExited) return { ...one, cause: exited };
  }
  return spec?.nodeName === undefined
    ? { ...other, cause: "Kubernetes found no node for the Pod" }
    : { ...other, cause: "The Pod runs, but /readyz reports that it is not ready", hasLogs: true };
}

function fixOf(unready: readonly UnreadyPod[], wave: RunningWave): string {
  const ref = deploymentRef(wave);
  if (unready.some(({ imageFailed }) => imageFailed)) return imageFix(wave);
  return unready.some(({ hasLogs }) => hasLogs)
    ? `kubectl logs ${kubectlArguments(ref)}`
    : `kubectl describe ${kubectlArguments(ref)}`;
}

/** Returns the command that sets another image: by the values of the chart if Helm installed Wave. */
function imageFix({ object, namespace, name, container }: RunningWave): string {
  const { labels = {} } = object.metadata;
  if (labels["app.kubernetes.io/managed-by"] !== "Helm")
    return `kubectl set image -n ${namespace} deployment/${name} ${container.name}=IMAGE:TAG`;
  const release = labels["app.kubernetes.io/instance"] ?? name;
  return `helm upgrade ${release} deploy/chart -n ${namespace} --reset-then-reuse-values --set image.repository=IMAGE,image.tag=TAG`;
}
