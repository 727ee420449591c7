import type { CompatibilitySettings } from "../../domain/compatibility/directive.ts";
import {
  type Config,
  type ConfigObject,
  hasSameContent,
  isReceived,
  toConfig,
  withChangeTime,
} from "../../domain/config/digest.ts";
import { legacyDigest } from "../../domain/config/legacy-hash.ts";
import { grantedObjects } from "../../domain/config/tracked-references.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { standardForm } from "../../domain/model/kind-row.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { configKey, type StoredKind, type StoredName } from "../../domain/references/references.ts";
import { isDnsSubdomain } from "../../domain/syntax/names.ts";
import { type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import type { Caches } from "../cluster-cache.ts";
import { readWithBorrowedTemplate } from "../workloads/workload-reads.ts";

/** The resource of each kind of configuration object. */
export const configResources: Readonly<Record<StoredKind, Resource>> = {
  ConfigMap: resources.configMaps,
  Secret: resources.secrets,
};

type ReadBounds = Pick<ApiRequest, "timeoutMs" | "signal">;

/**
 * Reads a ConfigMap or Secret as it is stored now; undefined if it does not exist. Returns undefined without a request for
 * a name that no object can have: a pod spec may contain dots and slashes that would change the path. A GET without a
 * resourceVersion is served from storage, not from the API server's own cache
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
 *
 * @throws what {@link ApiClient.request} throws, except 404.
 */
export async function readStoredObject(
  client: Pick<ApiClient, "request">,
  { kind, namespace, name }: StoredName,
  bounds: ReadBounds & Pick<ApiRequest, "digestsOf"> = {},
): Promise<ConfigObject | undefined> {
  if (!isDnsSubdomain(name)) return undefined;
  const path = resourcePath(configResources[kind], { namespace, name });
  return getIfExists<ConfigObject>(client, { path, ...bounds });
}

/**
 * Reads a ConfigMap or Secret like {@link readStoredObject} and returns its digests. No value becomes a string.
 *
 * @throws what {@link readStoredObject} throws, and an Error that names the object if it is malformed.
 */
export async function readStoredConfig(
  client: Pick<ApiClient, "request">,
  name: StoredName,
  bounds: ReadBounds,
  compatibility: CompatibilitySettings | undefined,
): Promise<Config | undefined> {
  const object = await readStoredObject(client, name, { ...bounds, digestsOf: name.kind });
  return object && toConfig(name.kind, object, compatibility);
}

/**
 * Returns a lookup over objects that were read live, by key. SecretProviderClasses come from the caches: they cannot be
 * read, and a newer version that is recorded on a workload takes precedence over them. Pinned copies come from the caches, too. An object
 * that the caches have not received up to this state may have had other content in between, so its time proves nothing. `syncedUpTo`: see
 * {@link Caches.syncedUpTo}. Default: unknown.
 */
export function liveLookup(
  found: ReadonlyMap<string, Config | undefined>,
  cached: Lookup,
  syncedUpTo: Caches["syncedUpTo"] = () => 0,
): Lookup {
  const known = (read: Config, held: Config | undefined): Config => {
    if (held !== undefined && hasSameContent(held, read)) {
      const upTo = Math.max(syncedUpTo(read.kind, read.namespace), held.revision ?? 0);
      // The caches have received this state or a later one, with the same content: they know better when that changed.
      if (isReceived(read, upTo)) return held;
    }
    return withChangeTime(read, held, false);
  };
  return (kind, namespace, name) => {
    if (kind === "SecretProviderClass") return cached(kind, namespace, name);
    const key = configKey({ kind, namespace, name });
    const held = cached(kind, namespace, name);
    const read = found.get(key);
    if (found.has(key)) return read && (read === held ? held : known(read, held));
    // A pinned copy cannot change.
    return held?.isCopy ? held : undefined;
  };
}

/** A stored workload, the configuration that it reads, and the hash that another controller would record for both. */
export interface LegacyRead {
  readonly workload: Workload;
  readonly lookup: Lookup;
  readonly hash: string;
}

/** Timeout of one read, in milliseconds. */
const timeoutMs = 10_000;

/**
 * Reads a workload and its configuration once, computes the hash of another controller from them, and drops the values. At
 * most the values of one object are in memory at a time. Of other namespaces, reads only objects that the caches know to be
 * shared with the workload, and treats all others as absent. Returns undefined if the workload is gone. Throws what
 * requests throw.
 */
export async function readLegacy(
  before: Workload,
  options: {
    readonly client: Pick<ApiClient, "request">;
    readonly policy: Policy;
    readonly cached: Lookup;
    /** See {@link liveLookup}. */
    readonly syncedUpTo?: Caches["syncedUpTo"];
    readonly signal: AbortSignal;
  },
): Promise<LegacyRead | undefined> {
  const { client, policy, cached, syncedUpTo, signal } = options;
  const bounds = { timeoutMs, signal };
  const found = new Map<string, Config | undefined>();

  const object = await readWithBorrowedTemplate(client, before.row, before, bounds);
  if (object === undefined) return undefined;
  const workload = toWorkload(before.row, object, policy);
  const granted = new Map(
    grantedObjects(workload, cached, rulesFor(workload, policy)).map((each) => [configKey(each), each]),
  );

  async function readConfiguration({ kind, namespace, name }: StoredName): Promise<ConfigObject | undefined> {
    const key = configKey({ kind, namespace, name });
    if (namespace !== workload.namespace && !granted.has(key)) return undefined;
    const config = await readStoredObject(client, { kind, namespace, name }, bounds);
    found.set(key, config && toConfig(kind, config, policy.compatibility));
    return config;
  }

  const digest = legacyDigest(workload, standardForm(workload.row, object));
  let step = digest.next();
  while (!step.done) step = digest.next(await readConfiguration(step.value));
  for (const [key, each] of granted) {
    if (!found.has(key)) found.set(key, await readStoredConfig(client, each, bounds, policy.compatibility));
  }
  return { workload, lookup: liveLookup(found, cached, syncedUpTo), hash: step.value };
}
