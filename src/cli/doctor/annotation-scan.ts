import type { WorkloadObject } from "../../domain/model/workload.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { isNotFound } from "../../kube/api/errors.ts";
import { type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import { metadataOnlyList } from "../../kube/list-watch/paged-list.ts";
import type { Cluster } from "../cluster/cluster-command.ts";
import { type KnownPolicy, policyOf } from "../cluster/inherited-flags.ts";
import { type ListScope, listAll } from "../cluster/list-all.ts";
import { readNamespaces } from "../cluster/read-namespaces.ts";
import { tryRead, type ReadFailure, inScope } from "../cluster/read-result.ts";
import { configArgumentKinds } from "../command/workload-argument.ts";
import { type ObjectFindings, metadataFindings, workloadFindings, type OtherCompatibility } from "./annotation-findings.ts";
import type { Finding } from "./finding.ts";

/** What is written on all workloads, Namespaces, ConfigMaps and Secrets, as far as anything is to be said about it. */
export interface AnnotationScan {
  readonly mistakes: readonly Finding[];
  readonly leftovers: readonly Finding[];
  /** The resources that could not be looked at. */
  readonly unread: readonly UnreadResource[];
  /** How many workloads that ask Wave in its own dialect ask others, too. */
  readonly askOthers: ReadonlyMap<OtherCompatibility, number>;
  /** How many objects were looked at. */
  readonly count: number;
}

/** Objects of one resource that could not be looked at. */
export interface UnreadResource extends ReadFailure {
  readonly plural: string;
}

/** Looks at each object once, in pages, and keeps only what is found; of ConfigMaps and Secrets their metadata is read alone. Never rejects. */
export async function scanAnnotations(
  { client }: Cluster,
  namespace: string | undefined,
  known: KnownPolicy,
): Promise<AnnotationScan> {
  const { of: ofNamespace, unread } = await readNamespaces(client, namespace, known.compatibility);
  const policy = { ...policyOf(known), ofNamespace: unread === undefined ? ofNamespace : undefined };
  const all = async <T extends KubeObject>(resource: Resource, scope: ListScope, note: (object: T) => ObjectFindings) => {
    const permission = `list ${resource.plural} ${inScope(scope.namespace)}`;
    const read = await tryRead(permission, () => listAll<T, ObjectFindings>(client, resource, scope, note));
    return { plural: resource.plural, read };
  };
  const its = async (name: string) => {
    const read = await tryRead(`get namespaces/${name}`, () => readNamespace(client, name));
    return { plural: resources.namespaces.plural, read };
  };
  const looks = await Promise.all([
    ...known.kinds.map((row) =>
      all<KubeObject & WorkloadObject>(row, { namespace }, (object) => workloadFindings(row, object, policy)),
    ),
    ...configArgumentKinds.map(({ kind, resource }) =>
      all(resource, { namespace, accept: metadataOnlyList }, (object) =>
        metadataFindings("config", { kind, namespace: object.metadata.namespace ?? "", name: object.metadata.name }, object),
      ),
    ),
    namespace === undefined ? all(resources.namespaces, {}, notedOnNamespace) : its(namespace),
  ]);
  const noted = looks.flatMap(({ read }) => ("read" in read ? read.read : []));
  const asked = Map.groupBy(
    noted.flatMap(({ askOthers }) => askOthers),
    (compatibility) => compatibility,
  );
  return {
    mistakes: noted.flatMap(({ mistakes }) => mistakes),
    leftovers: noted.flatMap(({ leftovers }) => leftovers),
    unread: looks.flatMap(({ plural, read }) => ("unread" in read ? [{ plural, ...read }] : [])),
    askOthers: new Map([...asked].map(([compatibility, { length }]) => [compatibility, length])),
    count: noted.length,
  };
}

/** An absent Namespace has nothing written on it. */
async function readNamespace(client: Cluster["client"], name: string): Promise<readonly ObjectFindings[]> {
  try {
    const path = resourcePath(resources.namespaces, { name });
    return [notedOnNamespace(await client.request<KubeObject>({ method: "GET", path }))];
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function notedOnNamespace(object: KubeObject): ObjectFindings {
  return metadataFindings("namespace", { kind: "Namespace", namespace: null, name: object.metadata.name }, object);
}
