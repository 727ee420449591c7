import { type Config, type ConfigObject, toConfig } from "../../domain/config/digest.ts";
import { legacyDigest } from "../../domain/config/legacy-hash.ts";
import { grantedObjects } from "../../domain/config/tracked-references.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { standardForm } from "../../domain/model/kind-row.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { type ClusterPolicy, policyFor } from "../../domain/policy/policy.ts";
import { configKey, type StoredName } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readWithBorrowedTemplate } from "../workloads/workload-reads.ts";
import { liveLookup, readStoredConfig, readStoredObject } from "./live-configs.ts";

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
    readonly policy: ClusterPolicy;
    readonly cached: Lookup;
    readonly signal: AbortSignal;
  },
): Promise<LegacyRead | undefined> {
  const { client, policy, cached, signal } = options;
  const bounds = { timeoutMs, signal };
  const found = new Map<string, Config | undefined>();

  const object = await readWithBorrowedTemplate(client, before.row, before, bounds);
  if (object === undefined) return undefined;
  const workload = toWorkload(before.row, object, policy);
  const granted = new Map(
    grantedObjects(workload, cached, policyFor(workload, policy)).map((each) => [configKey(each), each]),
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
  return { workload, lookup: liveLookup(found, cached), hash: step.value };
}
