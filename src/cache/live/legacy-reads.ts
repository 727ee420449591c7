import { objectsGranted } from "../../domain/config/cross-namespace.ts";
import { type Config, type ConfigObject, toConfig } from "../../domain/config/digest.ts";
import { legacyDigest } from "../../domain/config/legacy/legacy-hash.ts";
import { standardForm } from "../../domain/model/kind-row.ts";
import { toWorkload, type Workload } from "../../domain/model/workload.ts";
import type { Lookup } from "../../domain/plan/plan.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { configKey, type StoredName } from "../../domain/references/references.ts";
import { isDnsSubdomain } from "../../domain/syntax/dns-name.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";
import { readWithBorrowedTemplate } from "../workloads/template-source-reads.ts";
import { configResources, lookupLive, readConfig } from "./live-configs.ts";

/** A workload as it is stored, what it reads, and what another controller would record for the very same. */
export interface LegacyRead {
  readonly workload: Workload;
  readonly lookup: Lookup;
  readonly hash: string;
}

/** Of one object, in milliseconds. */
const timeoutMs = 10_000;

/**
 * Reads a workload and all that it reads once, makes the hash of another controller from it, and drops all values: no more
 * than those of one object are held at a time. Of other namespaces only what the caches know to be shared with the workload is
 * read, and the rest is as if it did not exist. Undefined where the workload is gone; throws what requests throw.
 */
export async function readLegacy(
  before: Workload,
  options: {
    readonly client: Pick<ApiClient, "request">;
    readonly policy: Policy;
    readonly cached: Lookup;
    readonly signal: AbortSignal;
  },
): Promise<LegacyRead | undefined> {
  const { client, policy, cached, signal } = options;
  const found = new Map<string, Config | undefined>();

  const object = await readWithBorrowedTemplate(client, before.row, before, { timeoutMs, signal });
  if (object === undefined) return undefined;
  const workload = toWorkload(before.row, object, policy);
  const granted = new Map(objectsGranted(workload, cached, policy).map((each) => [configKey(each), each]));

  async function readConfiguration({ kind, namespace, name }: StoredName): Promise<ConfigObject | undefined> {
    const key = configKey({ kind, namespace, name });
    const isOwn = namespace === workload.namespace && isDnsSubdomain(name);
    if (!isOwn && !granted.has(key)) return undefined;
    const config = await readIfThere<ConfigObject>(client, {
      path: resourcePath(configResources[kind], { namespace, name }),
      timeoutMs,
      signal,
    });
    found.set(key, config && toConfig(kind, config, policy.compatibility));
    return config;
  }

  const digest = legacyDigest(workload, standardForm(workload.row, object));
  let step = digest.next();
  while (!step.done) step = digest.next(await readConfiguration(step.value));
  for (const [key, each] of granted) {
    if (!found.has(key)) found.set(key, await readConfig(client, each, timeoutMs, signal, policy.compatibility));
  }
  return {
    workload,
    lookup: lookupLive(found, cached),
    hash: step.value,
  };
}
