import { describeObject } from "../../../domain/config/changes.ts";
import { standardForm } from "../../../domain/model/kind-row.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import { parseWorkloadKey, workloadKey } from "../../../domain/model/workload-shape.ts";
import type { BatchedChange } from "../../../domain/pacing/batches.ts";
import type { Stage } from "../../../domain/pacing/stage.ts";
import { decide } from "../../../domain/plan/decide.ts";
import { podSelector } from "../../../domain/pods/pod-owner.ts";
import { formatList } from "../../../domain/syntax/wording.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import type { WorkloadArgument } from "../../command/workload-argument.ts";
import { readAllConfigs, readManyConfigs } from "../read/configs.ts";
import { gapsOf, readNames, readNamespaces, withMatches } from "../read/namespaces.ts";
import { readPods } from "../read/pods.ts";
import { listWorkloads, readWorkload } from "../read/workloads.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { batchesNow, readRefusedPods } from "./batches-now.ts";
import { publishedOf, readLeaderView } from "./leader-view.ts";
import { isUnread, planObjects, withVerifiedHash, worldOf } from "./live-plan.ts";
import { placeIn, type WorkloadSnapshot, withAllReferences } from "./workload-snapshot.ts";

/**
 * Reads one workload and everything that its plan depends on. Throws a CommandFailure if the workload does not exist, and the error of
 * the API server if the workload cannot be read. Unreadable configuration objects are part of the result.
 */
export async function readWorkloadSnapshot(
  cluster: Cluster,
  argument: WorkloadArgument,
  namespace: string,
  flags: KnownPolicy,
): Promise<WorkloadSnapshot> {
  const { client } = cluster;
  const [object, namespaces] = await Promise.all([
    readWorkload(cluster, argument, namespace),
    readNamespaces(client, namespace, flags.compatibility),
  ]);
  const directiveContext = { ...flags, namespacePolicyOf: namespaces.of };
  const workload = toWorkload(argument.resource, object, directiveContext);
  const { namesMatching, failures, unreadFor } = await readNames(client, [workload]);
  const policy = { ...directiveContext, namesMatching };
  const found = { object: standardForm(argument.resource, object), workload: withMatches(workload, policy) };
  const [read, pods, refused] = await Promise.all([
    readAllConfigs(client, planObjects(withAllReferences(found, policy), policy), policy.compatibility),
    readPods(client, { namespace, labelSelector: podSelector(object.spec?.selector) }, flags.kinds),
    readRefusedPods(client, [found]),
  ]);
  const now = Date.now();
  const unnamed = unreadFor(workload);
  const isIncomplete = unnamed !== undefined || policy.keys.state === "unread" || read.values().some(isUnread);
  const view = isIncomplete && policy.lease ? await readLeaderView(client, policy.lease, now) : undefined;
  const stored = {
    found,
    published: view && publishedOf(found.workload, view, policy, now),
    unnamed,
    read,
    policy,
    pods,
    kubernetes: refused(found),
    now,
    batch: undefined,
    others: [],
    gaps: [...gapsOf(namespaces), ...failures],
  };
  const snapshot = await withVerifiedHash(client, stored);
  return isInBatch(snapshot) ? withOthers(cluster, snapshot) : snapshot;
}

/** Reports whether only other workloads of the batch can hold this workload. They are many, so they are read only in this case. */
function isInBatch({ found, read, policy, now, pods, kubernetes }: WorkloadSnapshot): boolean {
  return decide(worldOf(found, read, policy, now, { pods, kubernetes })).batched !== undefined;
}

/** Adds the workloads of the namespace that may roll before this workload, as far as they can be listed. */
async function withOthers({ client }: Cluster, snapshot: WorkloadSnapshot): Promise<WorkloadSnapshot> {
  const { now } = snapshot;
  const { namespace } = snapshot.found.workload;
  try {
    const { found: listed, failures } = await listWorkloads(client, { namespace }, snapshot.policy);
    const { namesMatching } = await readNames(
      client,
      listed.map(({ workload }) => workload),
    );
    const policy = { ...snapshot.policy, namesMatching };
    const found = listed.map((each) => ({ ...each, workload: withMatches(each.workload, policy) }));
    const objects = found.flatMap(({ workload }) => planObjects(workload, policy));
    const [read, pods, refused] = await Promise.all([
      readManyConfigs(client, objects, policy.compatibility),
      readPods(client, { namespace }, snapshot.policy.kinds),
      readRefusedPods(client, found),
    ]);
    const { holdOf, holderOf, groupOf } = batchesNow({ found, read, policy, now, podsIn: () => pods, refused });
    let others: readonly string[] = [];
    const { kubernetes } = snapshot;
    const { batched } = decide(worldOf(snapshot.found, snapshot.read, snapshot.policy, now, { pods, kubernetes }));
    const { workload } = snapshot.found;
    const holder = batched && holderOf(workload, batched);
    if (holder !== undefined) others = batchNotes(holder);
    const [first] = batched ?? [];
    const group = holder ?? (first && groupOf(first, namespace));
    const place = group && placeIn(group, workloadKey(workload), policy.pacing);
    return { ...snapshot, batch: holdOf, place, others, gaps: [...snapshot.gaps, ...failures.map(othersUnknown)] };
  } catch (error) {
    return { ...snapshot, gaps: [...snapshot.gaps, othersUnknown(errorText(error))] };
  }
}

function othersUnknown(why: string): string {
  return `Other workloads of the batch are unknown and may roll first: ${why}.`;
}

/** How many workloads a line names. */
const mostShown = 5;

/** The words for each stage of a workload with a change, in the order of the lines. */
const rows: readonly { readonly state: Stage["state"]; readonly text: string }[] = [
  { state: "failed", text: "failed in" },
  { state: "stuck", text: "is stuck in" },
  { state: "progressing", text: "is rolling out in" },
  { state: "soaking", text: "was just rolled out in" },
];

/**
 * Returns one line for each stage that workloads of the group are in, so that a person sees which workloads the others wait for:
 * `ConfigMap "page" failed in deployment/canary.`
 */
function batchNotes({ object, namespace, members }: BatchedChange): readonly string[] {
  const described = describeObject(object, namespace);
  return rows.flatMap(({ state, text }) => {
    const names = members.filter(({ stage }) => stage.state === state).map(({ key }) => nameOf(key));
    return names.length === 0 ? [] : [`${described} ${text} ${formatList(names.sort(), mostShown, String)}.`];
  });
}

function nameOf(key: string): string {
  const { kind, name } = parseWorkloadKey(key);
  return `${kind.toLowerCase()}/${name}`;
}
