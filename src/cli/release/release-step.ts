import { toWorkloadIfValid } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { formatList } from "../../domain/syntax/names.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { listAll } from "../cluster/requests.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";

/** What each step of the release needs. */
export interface ReleaseContext {
  readonly client: ApiClient;
  readonly policy: KnownPolicy;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
}

/** The workloads that a step changed, and one line for each failure. */
export interface StepResult {
  readonly touched: readonly Pick<Workload, "kind" | "namespace" | "name">[];
  readonly failures: readonly string[];
}

/** Lists the workloads of all kinds that match, opted in or not. A kind that cannot be listed becomes a failure. */
export async function listMatching(
  { client, policy, namespace }: ReleaseContext,
  matches: (workload: Workload) => boolean,
): Promise<{ readonly workloads: readonly Workload[]; readonly failures: readonly string[] }> {
  const failures: string[] = [];
  const lists = policy.kinds.map(async (row) => {
    try {
      return await listAll<KubeObject & WorkloadObject, Workload>(client, row, { namespace }, (object) => {
        const workload = toWorkloadIfValid(row, object, policy);
        return workload !== undefined && matches(workload) ? workload : undefined;
      });
    } catch (error) {
      failures.push(errorText(error));
      return [];
    }
  });
  return { workloads: (await Promise.all(lists)).flat(), failures };
}

/** Returns one line for many failures; no line for none. */
export function summary(what: string, failures: readonly string[]): readonly string[] {
  return failures.length === 0 ? [] : [`${what}: ${formatList(failures, 3, String)}`];
}
