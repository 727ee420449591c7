import { type Config, digestOf, keysOf } from "../../../domain/config/digest.ts";
import { standardForm, type WorkloadRow } from "../../../domain/model/kind-row.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { type Cause, parseCause } from "../../../domain/pacing/cause.ts";
import { type Pins, parsePins } from "../../../domain/pinning/pinned-lookup.ts";
import { type HashPlace, podHash, podSelector } from "../../../domain/pods/pod-owner.ts";
import { causeAnnotation, pinnedAnnotation, rolledAtAnnotation } from "../../../domain/references/annotations.ts";
import { fieldsOf } from "../../../domain/syntax/json.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { CommandFailure, commandErrorTexts } from "../../command/command.ts";
import type { WorkloadArgument } from "../../command/workload-argument.ts";
import { readNamespaces } from "../read/namespaces.ts";
import { type FoundWorkload, readWorkload } from "../read/pods.ts";
import { listAll } from "../requests.ts";
import { type KnownPolicy, withAvailableKind } from "../running-wave/known-policy.ts";

interface WorkloadRevisions extends FoundWorkload {
  /** The oldest first. */
  readonly revisions: readonly StoredRevision[];
  /** Other reads that failed and may matter, one line each. */
  readonly gaps: readonly string[];
}

/** Reads a workload and its revisions. Throws a CommandFailure if it or its kind has none; otherwise the error of the API server. */
export async function readWorkloadRevisions(
  cluster: Cluster,
  argument: WorkloadArgument,
  namespace: string,
  policy: KnownPolicy,
): Promise<WorkloadRevisions> {
  const target = withAvailableKind(argument, policy);
  const { resource } = target;
  // The Pods of Jobs and CronJobs end by themselves.
  if (resource.replicaSetLabel === undefined) throw new CommandFailure(commandErrorTexts.noRevisions(target.kind));
  const [stored, namespaces] = await Promise.all([
    readWorkload(cluster, target, namespace),
    readNamespaces(cluster.client, namespace, policy.compatibility),
  ]);
  const object = standardForm(resource, stored);
  const workload = toWorkload(resource, stored, { ...policy, namespacePolicyOf: namespaces.of });
  return {
    object,
    workload,
    revisions: await readRevisions(cluster.client, resource, object, workload),
    gaps: namespaces.gaps,
  };
}

/** A revision of a workload that Kubernetes keeps, as a ReplicaSet or a ControllerRevision. */
export interface StoredRevision {
  /** The number that `kubectl rollout history` shows. */
  readonly revision: number;
  readonly name: string;
  /** RFC 3339; undefined if unknown. */
  readonly createdAt: string | undefined;
  /** The hash in its pod template; undefined if there is none. */
  readonly hash: string | undefined;
  /** The raw annotation of its pod template with the pins; undefined if absent. */
  readonly pinned: string | undefined;
  /** The pins; undefined if there are none, or if they are malformed. */
  readonly pins: Pins | undefined;
  /** When and why Wave rolled the workload to its hash; undefined if Wave did not, or if that is not known. */
  readonly cause: Cause | undefined;
  /** The time of a rollout with an unchanged hash; undefined if there was none. */
  readonly rolledAt: string | undefined;
}

/** The annotations with the number of a ReplicaSet, of Deployments and of Argo Rollouts. */
const revisionAnnotations = ["deployment.kubernetes.io/revision", "rollout.argoproj.io/revision"];

/** Lists the revisions of a workload by their number, the oldest first. Throws what {@link ApiClient.stream} throws. */
async function readRevisions(
  client: ApiClient,
  { replicaSetLabel }: WorkloadRow,
  { metadata, spec }: WorkloadObject,
  workload: HashPlace,
): Promise<readonly StoredRevision[]> {
  const resource = replicaSetLabel === "" ? resources.controllerRevisions : resources.replicaSets;
  const scope = { namespace: metadata?.namespace, labelSelector: podSelector(spec?.selector) };
  const found = await listAll<KubeObject, StoredRevision>(client, resource, scope, (object) => {
    const isOwned = object.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === metadata?.uid);
    return isOwned ? toRevision(object, workload) : undefined;
  });
  return found.toSorted((a, b) => a.revision - b.revision);
}

function toRevision(object: KubeObject, workload: HashPlace): StoredRevision {
  const { name, creationTimestamp: createdAt, annotations = {} } = object.metadata;
  const { spec, data, revision } = fieldsOf(object);
  // A ControllerRevision has the fields of its workload that it keeps.
  const { template } = fieldsOf(spec ?? fieldsOf(data).spec);
  const written = fieldsOf(fieldsOf(fieldsOf(template).metadata).annotations);
  const text = (annotation: string) =>
    typeof written[annotation] === "string" ? (written[annotation] as string) : undefined;
  const pinned = text(pinnedAnnotation);
  const hash = podHash(written, workload);
  const number = revisionAnnotations.map((each) => annotations[each]).find((each) => each !== undefined) ?? revision;
  return {
    revision: Number(number) || 0,
    name,
    createdAt,
    hash,
    pinned,
    pins: pinned === undefined ? undefined : parsePins(pinned),
    cause: parseCause(hash, annotations[causeAnnotation]),
    rolledAt: text(rolledAtAnnotation),
  };
}

/** The keys of a ConfigMap that differ between two states, sorted. */
export interface KeyChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Returns the keys that differ. A key that moved between `data` and `binaryData` is changed. */
export function keyChanges(before: Config, after: Config): KeyChanges {
  const [old, current] = [contentOf(before), contentOf(after)];
  const keysWhere = (keys: Iterable<string>, wanted: (key: string) => boolean) => [...keys].filter(wanted).sort();
  return {
    added: keysWhere(current.keys(), (key) => !old.has(key)),
    removed: keysWhere(old.keys(), (key) => !current.has(key)),
    changed: keysWhere(old.keys(), (key) => current.has(key) && current.get(key) !== old.get(key)),
  };
}

/** Reports whether two states have the same keys and values. */
export function hasSameKeys({ added, removed, changed }: KeyChanges): boolean {
  return added.length + removed.length + changed.length === 0;
}

/** Returns an object with only some of its keys. */
export function withKeys(config: Config, wanted: ReadonlySet<string>): Config {
  const keys = keysOf(config).filter((key) => wanted.has(key));
  const inData = keysOf(config, "data").filter((key) => wanted.has(key));
  return {
    ...config,
    keys,
    binaryFrom: inData.length,
    digests: keys.map((key) => digestOf(config, key) ?? "").join(""),
  };
}

/** Returns a text for each key that is equal if and only if its field and its value are equal. */
function contentOf(config: Config): ReadonlyMap<string, string> {
  return new Map(
    keysOf(config).map((key) => {
      const inData = digestOf(config, key, "data");
      return [key, inData === undefined ? `binary ${digestOf(config, key)}` : `text ${inData}`];
    }),
  );
}
