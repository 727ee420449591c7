import type { CompatibilitySettings } from "../../../domain/compatibility/settings.ts";
import { toNamespacePolicy } from "../../../domain/policy/namespace-policy.ts";
import type { NamespacePolicy } from "../../../domain/policy/policy.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { isForbidden } from "../../../kube/api/errors.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/get-if-exists.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { listAll } from "../requests/list-all.ts";
import { mapBounded } from "../requests/map-bounded.ts";

/** The policies that Namespaces set for their workloads. */
export interface ReadNamespaces {
  readonly of: (namespace: string) => NamespacePolicy | undefined;
  /** Why no Namespace could be read, in one line; undefined if the read succeeded. */
  readonly unread: string | undefined;
  /** Why other Namespaces than the named ones are unknown. */
  readonly othersUnread?: string;
}

/**
 * Reads one Namespace, or all if `namespace` is undefined. If listing is forbidden, reads the Namespaces in `names` instead.
 * Never rejects.
 */
export async function readNamespaces(
  client: ApiClient,
  namespace: string | undefined,
  compatibility?: CompatibilitySettings,
  names: readonly string[] = [],
): Promise<ReadNamespaces> {
  try {
    const read = namespace === undefined ? await readAll(client) : await readOne(client, namespace);
    return known(read, compatibility);
  } catch (error) {
    if (names.length === 0 || !isForbidden(error)) return { of: () => undefined, unread: errorText(error) };
    const some = await readNamed(client, names, compatibility);
    return { ...some, othersUnread: errorText(error) };
  }
}

async function readNamed(
  client: ApiClient,
  names: readonly string[],
  compatibility: CompatibilitySettings | undefined,
): Promise<ReadNamespaces> {
  try {
    const read = await mapBounded(names, (name) => readOne(client, name));
    return known(read.flat(), compatibility);
  } catch (error) {
    return { of: () => undefined, unread: errorText(error) };
  }
}

function known(read: readonly KubeObject[], compatibility: CompatibilitySettings | undefined): ReadNamespaces {
  const byName = new Map(read.map((object) => [object.metadata.name, toNamespacePolicy(object, compatibility)]));
  return { of: (name) => byName.get(name), unread: undefined };
}

/** Returns a line about Namespaces that could not be read, for people. `others` also reports unread Namespaces outside `names`. */
export function gapsOf({ unread, othersUnread }: ReadNamespaces, others = false): readonly string[] {
  const why = unread ?? (others ? othersUnread : undefined);
  if (why === undefined) return [];
  return [`Namespace annotations are unknown and may hold workloads or opt them in: ${why}.`];
}

function readAll(client: ApiClient): Promise<readonly KubeObject[]> {
  return listAll<KubeObject, KubeObject>(client, resources.namespaces, {}, (object) => object);
}

async function readOne(client: ApiClient, name: string): Promise<readonly KubeObject[]> {
  const found = await getIfExists<KubeObject>(client, { path: resourcePath(resources.namespaces, { name }) });
  return found === undefined ? [] : [found];
}
