import { workloadPath } from "../../cache/workloads/workload-reads.ts";
import { hasSchedulingHold } from "../../domain/model/scheduling-hold.ts";
import { toWorkloadIfValid } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import { liftPatch } from "../../domain/patch/workload-patch.ts";
import { fieldManager } from "../../domain/references/field-managers.ts";
import type { JsonPatch } from "../../domain/syntax/json.ts";
import { apiFailureOf } from "../../kube/api/api-failure.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { mapBounded } from "../cluster/requests.ts";
import { listMatching, type ReleaseContext, type StepResult, summary } from "./release-step.ts";

/** How often a write is tried if the workload changes between the read and the write. */
const mostTries = 5;

/**
 * Lifts every scheduling hold, and gives up the schedulers that Wave restored. The writes have the field manager of Wave, so that its webhook
 * does not add the hold again.
 */
export async function liftHolds(context: ReleaseContext): Promise<StepResult> {
  const { workloads, failures } = await listMatching(context, (each) => patchOf(each) !== undefined);
  const results = await mapBounded(workloads, async (workload) => ({ workload, why: await lift(context, workload) }));
  const touched = results.filter(({ why }) => why === undefined).map(({ workload }) => workload);
  const left = results.flatMap(({ why }) => why ?? []);
  return { touched, failures: [...failures, ...summary("Some scheduling holds stay", left)] };
}

function patchOf(workload: Workload): JsonPatch | undefined {
  return hasSchedulingHold(workload) ? liftPatch(workload) : workload.disowning;
}

/** Lifts one hold, and then gives up its scheduler. Returns why the hold or the ownership stays; undefined if both are gone. */
async function lift({ client, policy }: ReleaseContext, listed: Workload): Promise<string | undefined> {
  const path = workloadPath(listed);
  let workload: Workload | undefined = listed;
  let why = "";
  for (let tries = mostTries; tries > 0; tries -= 1) {
    const body: JsonPatch | undefined = workload && patchOf(workload);
    if (body === undefined) return undefined;
    let object: WorkloadObject | undefined;
    try {
      object = await client.request<WorkloadObject>({ method: "PATCH", path, query: { fieldManager }, body });
    } catch (error) {
      const failure = apiFailureOf(error);
      if (failure === undefined) throw error;
      why = `${workloadKey(listed)}: ${errorText(error)}`;
      // The API server answers 422 both to a workload that has changed and to one that it refuses.
      if (failure.type !== "invalid" && failure.type !== "conflict" && failure.type !== "notFound") return why;
      object = await getIfExists<WorkloadObject>(client, { path });
    }
    workload = object && toWorkloadIfValid(listed.row, object, policy);
  }
  return why;
}
