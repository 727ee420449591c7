// What all checks share: the context, the findings and the scan of annotations. Knows no check and no output.

import type { Pod } from "#kubernetes";
import { podSelector } from "../../../domain/pods/pod-owner.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/reads.ts";
import { type ReadResult, tryList, tryRead } from "../../cluster/requests.ts";
import type { KnownPolicy } from "../../cluster/running-wave/known-policy.ts";
import { hasReadyReplica, type RunningWave, type RunningWaves } from "../../cluster/running-wave/running-wave.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { docsAddress } from "../../command/help.ts";
import type { AnnotationScan } from "./annotation-scan.ts";
import { type CheckResult, kubectlArguments, type ObjectRef, unchecked } from "./finding.ts";

/** The input of all checks: the cluster, its running Waves, and what several checks need, each read once. */
export interface DoctorContext {
  readonly cluster: Cluster;
  /** The namespace of the checked workloads; undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** The version of the API server, such as "v1.36.3"; undefined if the user may not read it. */
  readonly serverVersion: string | undefined;
  readonly waves: RunningWaves;
  /** The Waves that watch the namespace. */
  readonly watching: readonly RunningWave[];
  readonly policy: KnownPolicy;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The findings about all annotations, also on objects that have not opted in. Never rejects. */
  readonly annotationScan: Promise<AnnotationScan>;
}

/** One check of `wave doctor`. */
export interface Check {
  /** What the check expects, for `--help-all` and docs/commands.md. */
  readonly means: string;
  readonly run: (doctorContext: DoctorContext) => Promise<CheckResult>;
}

/** Runs a check for each Wave that watches the namespace. */
export async function forEachWave(
  { watching }: DoctorContext,
  check: (wave: RunningWave) => Promise<CheckResult>,
): Promise<CheckResult> {
  const each = await Promise.all(watching.map(check));
  return { found: each.flatMap(({ found }) => found), fine: each.map(({ fine = "" }) => fine).join(", ") };
}

/** Returns the Deployment of a Wave as the object of a finding. */
export function deploymentRef({ namespace, name }: RunningWave): ObjectRef {
  return { kind: "Deployment", namespace, name };
}

/** Returns the result of a check that needs a ready replica. The check of the installation reports the cause, once. */
export function notReady(wave: RunningWave): CheckResult {
  return { found: [unchecked(deploymentRef(wave), "Not checked, because no replica of Wave is ready.")] };
}

/** Reports whether a Wave uses leader election. */
export function elects({ values }: RunningWave): boolean {
  return values["leader-election"] || values["enable-ha"];
}

/** Returns the Helm release of a Wave; undefined if Helm did not install it. Argo CD renders the chart, so its labels prove nothing. */
export function helmReleaseOf({ object }: RunningWave): string | undefined {
  return object.metadata.annotations?.["meta.helm.sh/release-name"];
}

/** Returns the command that restores the missing objects of an installation. */
export function reinstall(wave: RunningWave): string {
  const release = helmReleaseOf(wave);
  if (release === undefined) return `Apply the manifests of Wave again: ${docsAddress("install")}`;
  return `helm get manifest ${release} -n ${wave.namespace} | kubectl apply -f -`;
}

/** Returns the command that starts a Wave that is scaled to 0. Without leader election, each replica would write. */
export function startCommand(wave: RunningWave): string {
  return `kubectl scale ${kubectlArguments(deploymentRef(wave))} --replicas=${elects(wave) ? 2 : 1}`;
}

/** Reports whether a Wave is ready and rolls every workload that another one rolls, so that the other one is not needed. */
export function replaces(wave: RunningWave, namespaces: readonly string[] | undefined): boolean {
  const { namespaces: watched, observe } = wave.values;
  const covers = watched === undefined || (namespaces?.every((each) => watched.includes(each)) ?? false);
  return covers && !observe && hasReadyReplica(wave);
}

/** Reads one object; `read` is undefined if the object does not exist. */
export function readObject<T>(
  { cluster }: DoctorContext,
  resource: Resource,
  where: ObjectRef,
): Promise<ReadResult<T | undefined>> {
  const path = resourcePath(resource, { namespace: where.namespace ?? undefined, name: where.name });
  return tryRead(permissionToGet(resource, where), () => getIfExists<T>(cluster.client, { path }));
}

/** Returns the permission to read an object: `get leases/wave in wave-system`. */
export function permissionToGet({ plural }: Resource, { namespace, name }: ObjectRef): string {
  return `get ${plural}/${name}${namespace === null ? "" : ` in ${namespace}`}`;
}

/** A Pod of a Wave. */
export type WavePod = KubeObject & Pod;

/** Reads the Pods of the Deployment of a Wave, without those that are being deleted. */
export function readWavePods(
  client: ApiClient,
  { namespace, object }: Pick<RunningWave, "namespace" | "object">,
): Promise<ReadResult<readonly WavePod[]>> {
  const scope = { namespace, labelSelector: podSelector(object.spec?.selector) };
  return tryList(client, resources.pods, scope, (pod: WavePod) => (pod.metadata.deletionTimestamp ? undefined : pod));
}

/** Returns the host name of a Pod as its processes see it: of its spec, otherwise its name. The kubelet cuts it after 63 characters. */
export function hostNameOf({ metadata, spec }: WavePod): string {
  return spec?.hostname ?? metadata.name.slice(0, 63).replace(/[-.]+$/, "");
}
