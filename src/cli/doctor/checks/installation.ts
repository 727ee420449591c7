import type { Event, Lease } from "#kubernetes";
import { holdTexts } from "../../../domain/pacing/hold-texts.ts";
import { quoted } from "../../../domain/syntax/names.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import { defaultLeaseDurationMs, holderOf } from "../../../manager/leader-election/lease.ts";
import { inScope, listAll, tryRead } from "../../cluster/requests.ts";
import { describeWave } from "../../cluster/running-wave/known-policy.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { version } from "../../command/command.ts";
import { docsAddress } from "../../command/help.ts";
import { age, sentences } from "../../output/sentences.ts";
import {
  type DoctorContext,
  deploymentRef,
  helmReleaseOf,
  hostNameOf,
  readWavePods,
  replaces,
  startCommand,
  type WavePod,
} from "../context/doctor-context.ts";
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
    ...(await otherHosts(doctorContext)),
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
    return problem(place, "Wave is scaled to 0, so nothing rolls.", startCommand(wave));
  const watched = wave.values.namespaces;
  const what = `Wave does not watch namespace ${namespace}. Its flag is --namespaces=${watched}.`;
  return problem(place, what, `Add ${namespace} to --namespaces.`);
}

/** Finds Waves that roll the same workloads. Advises to keep the first one installed that can do the work of both. */
function overlaps(watching: readonly RunningWave[]): readonly Finding[] {
  const rolling = watching
    .filter(({ values }) => !values.observe)
    .toSorted((a, b) => createdAt(a) - createdAt(b) || a.namespace.localeCompare(b.namespace));
  return rolling.flatMap((wave, index) =>
    rolling.slice(index + 1).flatMap((other) => {
      const [own, others] = [wave.values.namespaces, other.values.namespaces];
      if (own !== undefined && others !== undefined && !own.some((each) => others.includes(each))) return [];
      const what = `Two Waves roll the same workloads. The one that was installed later is ${describeWave(other)}.`;
      const needless = replaces(wave, others) ? other : replaces(other, own) ? wave : undefined;
      const fix =
        needless === undefined
          ? "Set --namespaces of the two, so that each namespace has one Wave."
          : `kubectl scale ${kubectlArguments(deploymentRef(needless))} --replicas=0`;
      return [problem(deploymentRef(wave), what, fix)];
    }),
  );
}

function createdAt({ object }: RunningWave): number {
  return Date.parse(object.metadata.creationTimestamp ?? "") || 0;
}

function otherVersion(wave: RunningWave): readonly Finding[] {
  // `kubectl set image` changes the tag, and not the label.
  const tag = /:v?(\d+\.\d+\.\d+)(@|$)/.exec(wave.container.image ?? "")?.[1];
  const running = tag ?? wave.object.metadata.labels?.["app.kubernetes.io/version"];
  if (running === undefined || running === version()) return [];
  const what = `Wave ${running} runs, but this command is ${version()}. Wave may decide differently from what this command shows.`;
  return [warning(deploymentRef(wave), what, `Use the command of Wave ${running}.`)];
}

async function replicasOf({ cluster }: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const ref = deploymentRef(wave);
  const { replicas = 1 } = wave.object.spec ?? {};
  const { readyReplicas: ready = 0, updatedReplicas: updated = 0, unavailableReplicas = 0 } = wave.object.status ?? {};
  const fine = `${describeWave(wave)}, ${ready} of ${replicas} ready`;
  const isUpgrading = updated < replicas || unavailableReplicas > 0;
  const pods = await readWavePods(cluster.client, wave);
  if (ready >= replicas && !isUpgrading) {
    if ("unread" in pods) return { found: [notRead(ref, "The images of the replicas were not compared", pods)] };
    return { found: imageFindings(pods.read, wave), fine };
  }
  const unready = "read" in pods ? pods.read.flatMap((pod) => unreadyPod(pod) ?? []) : [];
  if (ready >= replicas) return { found: upgradeFindings(unready, wave), fine };
  const causes = "read" in pods && unready.length === 0 ? ["There are no Pods"] : unready.map(({ cause }) => cause);
  const what = sentences(`${ready} of ${replicas} replicas are ready`, ...[...new Set(causes)].slice(0, mostCauses));
  return { found: [(ready === 0 ? problem : warning)(ref, what, fixOf(unready, wave))], fine };
}

/** Finds replicas with another image than the Deployment has, or with other builds of its image. */
function imageFindings(pods: readonly WavePod[], wave: RunningWave): readonly Finding[] {
  const ref = deploymentRef(wave);
  const { name, image = "" } = wave.container;
  const imageOf = ({ spec }: WavePod) => spec?.containers.find((each) => each.name === name)?.image ?? "";
  const other = pods.find((pod) => imageOf(pod) !== image);
  if (other !== undefined) {
    const what = `Replica ${other.metadata.name} runs image ${quoted(imageOf(other))}, and the Deployment has ${quoted(image)}.`;
    return [warning(ref, what, `kubectl rollout restart ${kubectlArguments(ref)}`)];
  }
  const builds = new Set(
    pods.flatMap(({ status }) => status?.containerStatuses?.find((each) => each.name === name)?.imageID || []),
  );
  if (builds.size < 2) return [];
  const what = `The replicas run ${builds.size} different builds of image ${quoted(image)}. Use another tag for each build.`;
  return [warning(ref, what, imageFix(wave))];
}

/** Finds an upgrade whose new Pods do not become ready. The old Pods still work, so all replicas are ready. */
function upgradeFindings(unready: readonly UnreadyPod[], wave: RunningWave): readonly Finding[] {
  const failing = unready.find(({ state }) => state === "noImage" || state === "exited");
  if (failing === undefined) return [];
  const ref = deploymentRef(wave);
  const logs = `kubectl logs ${kubectlArguments({ ...ref, kind: "Pod", name: failing.name })} --previous`;
  const what = sentences("The upgrade of Wave does not finish, and the old Pods still run", failing.cause);
  return [problem(ref, what, failing.state === "noImage" ? imageFix(wave) : logs)];
}

/** How many causes a finding names: replicas of one Deployment usually have the same cause. */
const mostCauses = 3;

interface UnreadyPod {
  readonly name: string;
  /** One sentence, without a full stop. */
  readonly cause: string;
  /** "exited": a container ended, and perhaps starts again. Without an image, and while it is pending, a Pod has no logs. */
  readonly state: "noImage" | "exited" | "pending" | "running";
}

/** The reasons of the kubelet for an image that it cannot pull. */
const imageReasons: readonly string[] = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"];

/** Returns why a Pod of Wave is not ready; undefined if the Pod is ready. */
function unreadyPod({ metadata: { name }, spec, status }: WavePod): UnreadyPod | undefined {
  if (status?.conditions?.some((each) => each.type === "Ready" && each.status === "True")) return undefined;
  for (const { image, state = {}, lastState = {} } of status?.containerStatuses ?? []) {
    const { exitCode } = state.terminated ?? lastState.terminated ?? {};
    const { reason } = state.waiting ?? {};
    if (reason !== undefined && imageReasons.includes(reason))
      return { name, state: "noImage", cause: `Kubernetes cannot pull image ${quoted(image)} (${reason})` };
    const why = reason ? ` (${reason})` : "";
    if (exitCode !== undefined)
      return { name, state: "exited", cause: `The container exited with code ${exitCode}${why}` };
    if (reason) return { name, state: "pending", cause: `Waiting: ${reason}` };
  }
  return spec?.nodeName === undefined
    ? { name, state: "pending", cause: "Kubernetes found no node for the Pod" }
    : { name, state: "running", cause: "The Pod runs, but /readyz reports that it is not ready" };
}

function fixOf(unready: readonly UnreadyPod[], wave: RunningWave): string {
  const ref = kubectlArguments(deploymentRef(wave));
  const states = new Set(unready.map(({ state }) => state));
  if (states.has("noImage")) return imageFix(wave);
  return states.has("exited") || states.has("running") ? `kubectl logs ${ref}` : `kubectl describe ${ref}`;
}

/** Returns the command that sets another image: by the values of the chart if Helm installed Wave. The chart refuses a tag that is a number, so it is set as a string. */
function imageFix(wave: RunningWave): string {
  const { namespace, name, container } = wave;
  const release = helmReleaseOf(wave);
  if (release === undefined) return `kubectl set image -n ${namespace} deployment/${name} ${container.name}=IMAGE:TAG`;
  return `helm upgrade ${release} deploy/chart -n ${namespace} --reset-then-reuse-values --set-string image.repository=IMAGE,image.tag=TAG`;
}

/** How long ago an Event is that shows a Wave which still runs. A Wave that ended leaves its Events for an hour. */
const recentMs = 10 * 60_000;

/** A Wave that left a trace. */
interface Trace {
  /** Its host and a number of its process, with an underscore between them. */
  readonly identity: string;
  /** What it did, without its name. */
  readonly did: string;
}

/**
 * Finds Waves that are no Pod of a Deployment, for example on a laptop, by the holders of Leases and the reporters of Events. A Wave that
 * does neither is not visible.
 */
async function otherHosts(doctorContext: DoctorContext): Promise<readonly Finding[]> {
  const { cluster, waves, watching, namespace, now } = doctorContext;
  const [wave] = watching;
  if ("unread" in waves || wave === undefined) return [];
  // A Pod in the network of its node has the host name of the node.
  if (waves.some(({ object }) => object.spec?.template.spec?.hostNetwork)) return [];
  const ref = deploymentRef(wave);
  const read = await tryRead(`list leases in all namespaces and events ${inScope(namespace)}`, () =>
    Promise.all([
      Promise.all(waves.map((each) => readWavePods(cluster.client, each))),
      listAll(cluster.client, resources.leases, {}, (lease: KubeObject & Lease) => holderIn(lease, doctorContext)),
      listAll(
        cluster.client,
        resources.events,
        { namespace, fieldSelector: "reportingComponent=wave" },
        (event: KubeObject & Event) => reporterOf(event, now),
      ),
    ]),
  );
  if ("unread" in read) return [notRead(ref, "Other Waves were searched only among Deployments", read)];
  const [pods, holders, reporters] = read.read;
  const unread = pods.find((each) => "unread" in each);
  if (unread !== undefined) return [notRead(ref, "Other Waves were searched only among Deployments", unread)];
  const own = new Set(pods.flatMap((each) => ("read" in each ? each.read.map(hostNameOf) : [])));
  // A Pod of an earlier ReplicaSet is gone, and its Events are not.
  const isOwn = (host: string) => own.has(host) || waves.some(({ name }) => host.startsWith(`${name}-`));
  const others = new Map([...reporters, ...holders].map(({ identity, did }) => [identity.replace(/_[^_]*$/, ""), did]));
  return [...others]
    .filter(([host]) => !isOwn(host))
    .map(([host, did]) => {
      const what = `A Wave on host ${quoted(host)} ${did}, and is no Pod of ${describeWave(wave)}. Workloads may roll twice.`;
      return warning(ref, what, "Stop one of the two Waves, or run one of them with --observe.");
    });
}

/** Returns the holder of a Lease that a Wave with these names uses, if the holder renews it. */
function holderIn(lease: KubeObject & Lease, { watching, now }: DoctorContext): Trace | undefined {
  const { namespace = "", name } = lease.metadata;
  if (!watching.some(({ values }) => values["leader-election-id"] === name) || holderOf(lease) === "") return undefined;
  const { leaseDurationSeconds = defaultLeaseDurationMs / 1_000, renewTime = "" } = lease.spec ?? {};
  if (!(Math.abs(now - Date.parse(renewTime)) < 2_000 * leaseDurationSeconds)) return undefined;
  return { identity: holderOf(lease), did: `holds Lease ${name} in ${namespace}` };
}

function reporterOf(
  { reportingInstance, reportingComponent, lastTimestamp }: KubeObject & Event,
  now: number,
): Trace | undefined {
  const ago = now - Date.parse(lastTimestamp ?? "");
  if (reportingComponent !== "wave" || !reportingInstance || !(ago < recentMs)) return undefined;
  return { identity: reportingInstance, did: `reported an Event ${age(Math.max(0, ago))} ago` };
}
