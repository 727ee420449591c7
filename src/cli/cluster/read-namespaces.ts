import type { KubeObject } from "../../kube/api-types.ts";
import type { ApiClient } from "../../kube/client.ts";
import { isNotFound } from "../../kube/errors.ts";
import { resourcePath, resources } from "../../kube/resources.ts";
import type { DialectSettings } from "../../rollout/dialects/settings.ts";
import { toNamespacePolicy } from "../../rollout/policy/namespace-policy.ts";
import type { NamespacePolicy } from "../../rollout/policy/policy.ts";
import { errorText } from "../../telemetry/error-text.ts";
import { listAll } from "../list/list-all.ts";

/** What Namespaces decide for the workloads in them. */
export interface ReadNamespaces {
  readonly of: (namespace: string) => NamespacePolicy | undefined;
  /** Why that could not be read, in one line: nothing that they decide is known then. */
  readonly unread: string | undefined;
}

/** Reads one Namespace, or all of them. Never rejects. */
export async function readNamespaces(
  client: ApiClient,
  namespace: string | undefined,
  dialects?: DialectSettings,
): Promise<ReadNamespaces> {
  try {
    const read = namespace === undefined ? await readAll(client) : await readOne(client, namespace);
    const byName = new Map(read.map((object) => [object.metadata.name, toNamespacePolicy(object, dialects)]));
    return { of: (name) => byName.get(name), unread: undefined };
  } catch (error) {
    return { of: () => undefined, unread: errorText(error) };
  }
}

/** What that means, for a person: a line, or none. */
export function gapsOf({ unread }: ReadNamespaces): readonly string[] {
  if (unread === undefined) return [];
  return [`what Namespaces decide is not known here and may hold it or opt others in: ${unread}`];
}

function readAll(client: ApiClient): Promise<readonly KubeObject[]> {
  return listAll<KubeObject, KubeObject>(client, resources.namespaces, {}, (object) => object);
}

async function readOne(client: ApiClient, name: string): Promise<readonly KubeObject[]> {
  try {
    return [await client.request<KubeObject>({ method: "GET", path: resourcePath(resources.namespaces, { name }) })];
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
