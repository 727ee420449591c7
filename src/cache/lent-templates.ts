import type { KubeObject } from "../kube/api-types.ts";
import { backoffMs } from "../lib/backoff.ts";
import { type Clock, sleep } from "../lib/clock.ts";
import { isMadeOf } from "../rollout/cached-workload.ts";
import type { Asking } from "../rollout/dialects/asked.ts";
import { type Workload, type WorkloadObject, type WorkloadRow, workloadIfAny } from "../rollout/workload.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import { askedMs, isReadFailure } from "./read-failure.ts";
import type { Completing } from "./reflector.ts";

type O = KubeObject & WorkloadObject;

const retries = { baseMs: 500, maxMs: 30_000 };

/** Reads the pod template of an object where that is another object's; rejects where it cannot. */
export type ReadTemplate = (row: WorkloadRow, object: O, signal: AbortSignal) => Promise<O>;

/**
 * Has a cache hold workloads with the pod templates that they borrow. Of one that has asked for rolls the template is read when it
 * comes, and when its controller says that it is another by now; what the watch tells next waits for that, also while the
 * API server fails.
 */
export function lentTemplates(
  row: WorkloadRow,
  read: ReadTemplate,
  asking: Asking,
  { clock, log, random }: { readonly clock: Clock; readonly log: Logger; readonly random: () => number },
): (signal: AbortSignal) => Completing<O, Workload> {
  const readOn = async (object: O, signal: AbortSignal): Promise<O> => {
    for (let failures = 0; ; failures++) {
      try {
        return await read(row, object, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!isReadFailure(error)) throw error;
        const { namespace, name } = object.metadata;
        const fields = { kind: row.id, namespace, name, error: errorText(error) };
        log[failures === 0 ? "warn" : "debug"](
          "cannot read the pod template that a workload borrows; trying again",
          fields,
        );
        await sleep(clock, Math.max(askedMs(error), backoffMs(failures, { ...retries, random })), signal);
      }
    }
  };
  return (signal) => (object, held) => {
    if (row.borrowing?.lenderOf(object) === undefined) return undefined;
    if (held !== undefined && isMadeOf(held, object, asking)) return undefined;
    return workloadIfAny(row, object, asking)?.optIn.state === "in" ? readOn(object, signal) : undefined;
  };
}
