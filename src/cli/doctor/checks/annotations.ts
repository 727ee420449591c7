import type { Service } from "#kubernetes";
import { pendingPodsSelector } from "../../../domain/model/scheduling-hold.ts";
import { formatCount, formatList } from "../../../domain/syntax/names.ts";
import { type KubeObject, metadataOnlyList, type Resource, resources } from "../../../kube/api/resources.ts";
import type { MutatingWebhook, StoredConfiguration } from "../../../webhook/certificates/configuration.ts";
import { tryList } from "../../cluster/requests.ts";
import { type RunningWave, waveSelector, wavesWatching } from "../../cluster/running-wave/running-wave.ts";
import { configArgumentKinds } from "../../command/workload-argument.ts";
import type { UnreadResource } from "../context/annotation-scan.ts";
import { type DoctorContext, readObject } from "../context/doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  notRead,
  type ObjectRef,
  problem,
  warning,
} from "../context/finding.ts";

/** Checks that annotations for Wave are on objects on which they have an effect, and have valid values. */
export async function checkAnnotations(doctorContext: DoctorContext): Promise<CheckResult> {
  const { mistakes, unread, count } = await doctorContext.annotationScan;
  const unknown = unread.map((each) => notRead(null, `Annotations of ${each.plural} were not checked`, each));
  return {
    found: [...mistakes, ...unknown],
    fine: `${formatCount(count)} ${count === 1 ? "object" : "objects"} checked`,
  };
}

/** Checks that nothing of a removed Wave or of earlier controllers is left that blocks or misleads. */
export async function checkLeftovers(doctorContext: DoctorContext): Promise<CheckResult> {
  const [{ leftovers, unread }, stranded, admission] = await Promise.all([
    doctorContext.annotationScan,
    strandedPods(doctorContext),
    leftAdmission(doctorContext),
  ]);
  const unknown = unread
    .filter(mayHaveLeftovers)
    .map((each) => notRead(null, `Leftovers on ${each.plural} were not checked`, each));
  return { found: [...admission, ...stranded, ...leftovers, ...unknown], fine: "no leftovers" };
}

/** Only workloads can have leftovers, not ConfigMaps and Secrets. */
function mayHaveLeftovers({ plural }: UnreadResource): boolean {
  return configArgumentKinds.every(({ resource }) => resource.plural !== plural);
}

/** How many Pods a finding names. */
const mostNamed = 3;

/** Finds Pods that wait for a Wave that does not run: no scheduler has their scheduler name. One finding for each namespace. */
async function strandedPods({ cluster, namespace, waves }: DoctorContext): Promise<readonly Finding[]> {
  if ("unread" in waves) return [];
  const scope = { namespace, fieldSelector: pendingPodsSelector, accept: metadataOnlyList };
  const pods = await tryList(cluster.client, resources.pods, scope, ({ metadata }) => metadata);
  if ("unread" in pods) return [notRead(null, "Pods that wait for Wave were not searched for", pods)];
  const byNamespace = Map.groupBy(pods.read, ({ namespace: where = "" }) => where);
  return [...byNamespace].flatMap(([where, stranded]) => {
    if (wavesWatching(waves, where).length > 0) return [];
    const count = stranded.length === 1 ? "1 Pod stays" : `${formatCount(stranded.length)} Pods stay`;
    const names = formatList(stranded, mostNamed, ({ name }) => name);
    const what = `${count} pending: ${names}. A scheduling hold of Wave applies, and no Wave runs that lifts the hold.`;
    const ref = { kind: "Namespace", namespace: null, name: where };
    return [problem(ref, what, `wave release --scheduling-holds -n ${where}`)];
  });
}

/** The names of the webhooks of Wave end with this text, also if kustomize renames their configuration. */
const webhookSuffix = ".wave.pusher.com";

/**
 * Finds webhooks, policies and bindings of a Wave that is gone. They have no namespace, so `kubectl delete namespace` leaves them. Does not
 * judge what a Wave outside of the cluster may use.
 */
async function leftAdmission(doctorContext: DoctorContext): Promise<readonly Finding[]> {
  const { waves } = doctorContext;
  if ("unread" in waves) return [];
  const [webhooks, policies] = await Promise.all([
    leftWebhooks(doctorContext, waves),
    waves.length > 0 ? [] : leftPolicies(doctorContext),
  ]);
  return [...webhooks, ...policies];
}

async function leftWebhooks(doctorContext: DoctorContext, waves: readonly RunningWave[]): Promise<readonly Finding[]> {
  const { client } = doctorContext.cluster;
  const ofWave = (each: StoredConfiguration) => (each.webhooks?.some(isOfWave) ? each : undefined);
  const stored = await tryList(client, resources.mutatingWebhookConfigurations, {}, ofWave);
  if ("unread" in stored) return [notRead(null, "Leftover webhooks were not searched for", stored)];
  const found = await Promise.all(stored.read.map((each) => leftWebhook(doctorContext, waves, each)));
  return found.flat();
}

function isOfWave({ name }: MutatingWebhook): boolean {
  return name === webhookSuffix.slice(1) || name.endsWith(webhookSuffix);
}

/** Returns a finding if nothing answers a webhook of Wave: its Service is gone, or the Wave beside its Service serves no webhooks. */
async function leftWebhook(
  doctorContext: DoctorContext,
  waves: readonly RunningWave[],
  { metadata, webhooks = [] }: StoredConfiguration,
): Promise<readonly Finding[]> {
  const ours = webhooks.filter(isOfWave);
  const service = ours[0]?.clientConfig.service;
  // With a URL, it may be a Wave outside of the cluster.
  if (service === undefined) return [];
  const beside = waves.filter(({ namespace }) => namespace === service.namespace);
  if (beside.some(({ values }) => values["enable-webhooks"] && values["webhook-service-name"] === service.name))
    return [];
  const called: ObjectRef = { kind: "Service", namespace: service.namespace, name: service.name };
  const where: ObjectRef = { kind: "MutatingWebhookConfiguration", namespace: null, name: metadata.name };
  if (beside.length === 0) {
    const there = await readObject<KubeObject & Service>(doctorContext, resources.services, called);
    if ("unread" in there) return [notRead(where, "The Service of this webhook was not checked", there)];
    // A Wave may run there whose Deployment has other labels.
    if (there.read !== undefined) return [];
  }
  const why =
    beside.length === 0
      ? `Service ${service.name} in ${service.namespace} does not exist`
      : `the Wave in ${service.namespace} runs without --enable-webhooks`;
  const fix = `kubectl delete ${kubectlArguments(where)}`;
  const blocks = ours.some(({ failurePolicy }) => failurePolicy === "Fail");
  const what = `The webhook of Wave is left over: ${why}.`;
  return blocks
    ? [problem(where, `${what} With failurePolicy Fail, workloads that it selects cannot be created or edited.`, fix)]
    : [warning(where, what, fix)];
}

/** The kinds of policies that the chart creates, each with its bindings. */
const policyKinds: readonly Resource[] = [
  resources.validatingAdmissionPolicyBindings,
  resources.validatingAdmissionPolicies,
  resources.mutatingAdmissionPolicyBindings,
  resources.mutatingAdmissionPolicies,
];

/** Finds the policies that the chart made, if no Deployment of Wave is left in the cluster: then nothing needs them. */
async function leftPolicies({ cluster: { client } }: DoctorContext): Promise<readonly Finding[]> {
  const lists = await Promise.all(
    policyKinds.map((resource) =>
      tryList(client, resource, { labelSelector: waveSelector }, ({ metadata: { name } }): ObjectRef => {
        return { kind: resource.kind, namespace: null, name };
      }),
    ),
  );
  const unread = lists.flatMap((list) =>
    "unread" in list ? [notRead(null, "Leftover policies were not searched for", list)] : [],
  );
  const left = lists.flatMap((list) => ("read" in list ? list.read : []));
  if (left.length === 0) return unread;
  const what = `Policies of Wave are left over, and no Wave runs. To keep Wave, install it again. To remove Wave, delete them. New Pods then read live configuration.`;
  return [...unread, warning(null, what, `kubectl delete --ignore-not-found ${left.map(kubectlArguments).join(" ")}`)];
}
