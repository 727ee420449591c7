import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { type KubeObject, metadataOnlyList, type Resource, resources } from "../../../kube/api/resources.ts";
import { readNamespace, readNamespaces } from "../../cluster/read/namespaces.ts";
import { inScope, type ListScope, listAll, type ReadFailure, tryRead } from "../../cluster/requests.ts";
import type { KnownPolicy } from "../../cluster/running-wave/known-policy.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { configArgumentKinds } from "../../command/workload-argument.ts";
import { metadataFindings, type ObjectFindings, workloadFindings } from "./annotation-findings.ts";

/** The findings about all workloads, Namespaces, ConfigMaps and Secrets. It has another controller once for each workload. */
export interface AnnotationScan extends ObjectFindings {
  /** The resources that could not be read. */
  readonly unread: readonly UnreadResource[];
  /** The number of objects that were checked. */
  readonly count: number;
}

/** A resource that the scan could not read, by its plural name, with the cause. */
export interface UnreadResource extends ReadFailure {
  readonly plural: string;
}

/** Reads each object once, in pages, and keeps only findings. For ConfigMaps and Secrets only metadata is read. Never rejects. */
export async function scanAnnotations(
  { client }: Cluster,
  namespace: string | undefined,
  known: KnownPolicy,
): Promise<AnnotationScan> {
  const { of, gaps } = await readNamespaces(client, namespace, known.compatibility);
  const policy = { ...known, namespacePolicyOf: gaps.length === 0 ? of : undefined };
  const understood = known.compatibility?.understood;
  const notedOnNamespace = (object: KubeObject) => metadataFindings("Namespace", object, understood);
  const all = async <T extends KubeObject>(
    resource: Resource,
    scope: ListScope,
    note: (object: T) => ObjectFindings,
  ) => {
    const permission = `list ${resource.plural} ${inScope(scope.namespace)}`;
    const read = await tryRead(permission, () => listAll<T, ObjectFindings>(client, resource, scope, note));
    return { plural: resource.plural, read };
  };
  const named = async (name: string) => {
    const read = await tryRead(`get namespaces/${name}`, async () =>
      (await readNamespace(client, name)).map(notedOnNamespace),
    );
    return { plural: resources.namespaces.plural, read };
  };
  const scans = await Promise.all([
    ...known.kinds.map((row) =>
      all<KubeObject & WorkloadObject>(row, { namespace }, (object) => workloadFindings(row, object, policy)),
    ),
    ...configArgumentKinds.map(({ kind, resource }) =>
      all(resource, { namespace, accept: metadataOnlyList }, (object) => metadataFindings(kind, object, understood)),
    ),
    namespace === undefined ? all(resources.namespaces, {}, notedOnNamespace) : named(namespace),
  ]);
  const perObject = scans.flatMap(({ read }) => ("read" in read ? read.read : []));
  return {
    mistakes: perObject.flatMap(({ mistakes }) => mistakes),
    leftovers: perObject.flatMap(({ leftovers }) => leftovers),
    unread: scans.flatMap(({ plural, read }) => ("unread" in read ? [{ plural, ...read }] : [])),
    otherControllers: perObject.flatMap(({ otherControllers }) => otherControllers),
    count: perObject.length,
  };
}
