import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { rollAgainPatch } from "../../domain/patch/workload-patch.ts";
import { fieldManager } from "../../domain/references/field-managers.ts";
import { timestamp } from "../../kube/events/event-object.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { unlessChanged } from "../observers/write-annotation.ts";

/** What the writes of this controller need. */
export interface MixedPodWrites {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly leadership: Leadership;
}

/** Starts a rollout of a workload without a change of its hash. */
export async function rollAgain(
  workload: Workload,
  { client, clock, leadership }: MixedPodWrites,
): Promise<"written" | "changed"> {
  try {
    await client.request({
      method: "PATCH",
      path: workloadPath(workload),
      query: { fieldManager },
      contentType: "application/json-patch+json",
      body: rollAgainPatch(workload, timestamp(clock)),
      signal: leadership.abort,
      mayBeSent: leadership.valid,
    });
    return "written";
  } catch (error) {
    return unlessChanged(error);
  }
}
