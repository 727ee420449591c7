import type { KubeObject } from "../../kube/api-types.ts";
import { isNotFound } from "../../kube/errors.ts";
import { onlyMetadata } from "../../kube/paged-list.ts";
import { type Resource, resourcePath, resources } from "../../kube/resources.ts";
import type { WorkloadObject } from "../../rollout/workload.ts";
import { readNamespaces } from "../cluster/read-namespaces.ts";
import type { Cluster } from "../cluster-command.ts";
import { type KnownPolicy, policyOf } from "../flags/told-flags.ts";
import { type ListScope, listAll } from "../list/list-all.ts";
import { configRows } from "../workload-argument.ts";
import { type Found, reading, unchecked } from "./finding.ts";
import { type Noted, notedOn, notedOnWorkload, type OtherDialect } from "./noted.ts";

/** What is written on all workloads, Namespaces, ConfigMaps and Secrets, as far as anything is to be said about it. */
export interface Written {
  readonly mistakes: readonly Found[];
  readonly leftovers: readonly Found[];
  /** How many workloads that ask Wave in its own dialect ask others, too. */
  readonly askOthers: ReadonlyMap<OtherDialect, number>;
  /** How many objects were looked at. */
  readonly count: number;
}

/** Looks at each object once, in pages, and keeps only what is found; of ConfigMaps and Secrets their metadata is read alone. Never rejects. */
export async function readWritten(
  { client }: Cluster,
  namespace: string | undefined,
  known: KnownPolicy,
): Promise<Written> {
  const { of: ofNamespace, unread } = await readNamespaces(client, namespace, known.dialects);
  const policy = { ...policyOf(known), ofNamespace: unread === undefined ? ofNamespace : undefined };
  const all = <T extends KubeObject>(resource: Resource, scope: ListScope, note: (object: T) => Noted) =>
    lookedAt(resource, namespace, () => listAll<T, Noted>(client, resource, scope, note));
  const lists = await Promise.all([
    ...known.kinds.map((row) =>
      all<KubeObject & WorkloadObject>(row, { namespace }, (object) => notedOnWorkload(row, object, policy)),
    ),
    ...configRows.map(({ kind, resource }) =>
      all(resource, { namespace, accept: onlyMetadata }, (object) =>
        notedOn("config", { kind, namespace: object.metadata.namespace ?? "", name: object.metadata.name }, object),
      ),
    ),
    namespace === undefined
      ? all(resources.namespaces, {}, notedOnNamespace)
      : lookedAt(resources.namespaces, undefined, async () => {
          const path = resourcePath(resources.namespaces, { name: namespace });
          const object = await client.request<KubeObject>({ method: "GET", path }).catch((error: unknown) => {
            if (isNotFound(error)) return undefined;
            throw error;
          });
          return object === undefined ? [] : [notedOnNamespace(object)];
        }),
  ]);
  const noted = lists.flatMap((list) => list.noted);
  const asked = Map.groupBy(
    noted.flatMap(({ askOthers }) => askOthers),
    (dialect) => dialect,
  );
  return {
    mistakes: [...noted.flatMap(({ mistakes }) => mistakes), ...lists.flatMap(({ unread }) => unread)],
    leftovers: noted.flatMap(({ leftovers }) => leftovers),
    askOthers: new Map([...asked].map(([dialect, { length }]) => [dialect, length])),
    count: noted.length,
  };
}

async function lookedAt(
  { plural }: Resource,
  namespace: string | undefined,
  look: () => Promise<readonly Noted[]>,
): Promise<{ readonly noted: readonly Noted[]; readonly unread: readonly Found[] }> {
  const read = await reading(`list ${plural}${namespace === undefined ? "" : ` in ${namespace}`}`, look);
  if ("read" in read) return { noted: read.read, unread: [] };
  return { noted: [], unread: [unchecked(null, `what is written on ${plural}: ${read.unread}`)] };
}

function notedOnNamespace(object: KubeObject): Noted {
  return notedOn("namespace", { kind: "Namespace", namespace: null, name: object.metadata.name }, object);
}
