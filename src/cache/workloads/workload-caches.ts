import type { Asking } from "../../domain/compatibility/directives.ts";
import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { isMadeOf, sameWorkload, withoutReferences, withProgressOf } from "../../domain/model/cached-workload.ts";
import { hasSchedulingHold } from "../../domain/model/scheduling-hold.ts";
import {
  MalformedWorkload,
  namespaceOf,
  toWorkload,
  type Workload,
  type WorkloadKind,
  type WorkloadObject,
  type WorkloadRow,
} from "../../domain/model/workload.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";
import { configKey } from "../../domain/references/references.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { PatternIndex } from "../index/pattern-index.ts";
import type { ReferenceIndex } from "../index/reference-index.ts";
import { KindCache } from "../store/kind-cache.ts";
import { type Allotments, isLeftOut } from "../store/namespace-limits.ts";
import type { ReadTemplate } from "../store/read-template.ts";
import type { StoreChange } from "../store/store.ts";
import { BorrowedTemplates } from "./borrowed-templates.ts";

interface Options {
  /** Undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  readonly log: Logger;
  /** What decides of a workload besides itself. */
  readonly asking: Asking;
  readonly onWorkloadChange: (change: StoreChange<Workload>) => void;
  /** See {@link Source.readTemplate}. */
  readonly readTemplate?: ReadTemplate | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/** What is held of one kind of workload. */
export type WorkloadCache = KindCache<KubeObject & WorkloadObject, Workload>;

/** The caches of the workloads that concern Wave, and how one is made of any other kind. */
export interface WorkloadCaches {
  /** By kind. */
  readonly caches: Map<WorkloadKind, WorkloadCache>;
  readonly cacheOf: (row: WorkloadRow) => WorkloadCache;
}

/** The caches of the built-in kinds; `index` and `patterns` follow what workloads of all kinds read. */
export function workloadCaches(
  options: Options,
  { index, patterns }: { readonly index: ReferenceIndex; readonly patterns: PatternIndex },
  allotments: Allotments,
): WorkloadCaches {
  const { namespaces, log, asking, onWorkloadChange, readTemplate } = options;
  const onChange = (change: StoreChange<Workload>) => {
    if (change.after === undefined && change.before !== undefined) allotments.giveBack(change.before);
    index.set(change.key, change.after?.references.map(configKey) ?? []);
    patterns.set(change.key, namespaceOf(change.key), change.after?.foreign?.patterns ?? []);
    onWorkloadChange(change);
  };
  const cacheOf = (row: WorkloadRow): WorkloadCache =>
    new KindCache({
      kind: row.id,
      resource: row,
      namespaces,
      transform: (object, held) => {
        const mayFitNow = isLeftOut(held) && allotments.hasRoom(held?.namespace ?? "");
        if (held !== undefined && !mayFitNow && isMadeOf(held, object, asking)) return withProgressOf(held, object);
        const workload = workloadFrom(row, object, asking, held, log);
        if (workload === undefined || !concernsWave(workload)) return undefined;
        return allotments.take(held, workload, (mebibytes) => withoutReferences(workload, mebibytes));
      },
      completing:
        row.borrowing && readTemplate && new BorrowedTemplates(row, { ...options, asking, read: readTemplate }),
      same: sameWorkload,
      onChange,
      listAgain: () => allotments.hasRoomAnywhere,
      log,
    });
  return { caches: new Map(builtInKinds.map((row) => [row.id, cacheOf(row)])), cacheOf };
}

/**
 * Undefined where an object is none, or is none any more: what was known of it would be planned for ever, and never be
 * written.
 */
function workloadFrom(
  row: WorkloadRow,
  object: KubeObject & WorkloadObject,
  asking: Asking,
  held: Workload | undefined,
  log: Logger,
): Workload | undefined {
  try {
    return toWorkload(row, object, asking);
  } catch (error) {
    if (!(error instanceof MalformedWorkload)) throw error;
    const { namespace, name, annotations } = object.metadata;
    // Nobody waits for others: a Rollout that takes its pod template from a Deployment has none.
    const isWanted = held !== undefined || annotations?.[updateOnConfigChange] !== undefined;
    const fields = { kind: row.id, namespace, name, error: error.message };
    log[isWanted ? "warn" : "debug"]("ignored a malformed workload", fields);
    return undefined;
  }
}

function concernsWave(workload: Workload): boolean {
  return (
    workload.optIn.state !== "out" ||
    hasSchedulingHold(workload) ||
    workload.mistakes.length > 0 ||
    workload.oldFinalizer
  );
}
