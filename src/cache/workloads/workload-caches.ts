// The caches of workloads of all kinds, and the templates that they take from other workloads. Decides nothing.
import type { ObjectMeta } from "#kubernetes";
import type { DirectiveContext } from "../../domain/compatibility/directives.ts";
import { matchesObject, sameWorkload, withoutReferences, withProgressOf } from "../../domain/model/cached-workload.ts";
import type { WorkloadKind, WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { hasSchedulingHold } from "../../domain/model/scheduling-hold.ts";
import { isUndone } from "../../domain/model/undo-request.ts";
import { MalformedWorkload, toWorkload } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { hasOneTemplate, namespaceOf, type TemplateWrite, type Workload } from "../../domain/model/workload-shape.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";
import { configKey } from "../../domain/references/references.ts";
import { fieldsOf } from "../../domain/syntax/json.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { PatternIndex, ReferenceIndex } from "../index/reference-index.ts";
import { KindCache, type ReadTemplate } from "../store/kind-cache.ts";
import { isLeftOut, type NamespaceLimits } from "../store/namespace-limits.ts";
import type { StoreChange } from "../store/store.ts";
import { BorrowedTemplates } from "./borrowed-templates.ts";

/** The workloads of one kind. */
export type WorkloadCache = KindCache<KubeObject & WorkloadObject, Workload>;

interface WorkloadCaches {
  readonly caches: Map<WorkloadKind, WorkloadCache>;
  readonly cacheOf: (row: WorkloadRow) => WorkloadCache;
}

/** Makes the caches of the built-in kinds. Keeps `index` and `patterns` in step with what workloads of all kinds read. */
export function workloadCaches(
  options: Pick<ProcessContext, "clock" | "log" | "random"> & {
    /** Undefined: all. */
    readonly namespaces: readonly string[] | undefined;
    /** What affects a workload in addition to its own annotations. */
    readonly directiveContext: DirectiveContext;
    readonly onWorkloadChange: (change: StoreChange<Workload>) => void;
    /** See {@link CacheSource.readTemplate}. */
    readonly readTemplate?: ReadTemplate | undefined;
  },
  { index, patterns }: { readonly index: ReferenceIndex; readonly patterns: PatternIndex },
  namespaceLimits: NamespaceLimits,
): WorkloadCaches {
  const { namespaces, log, directiveContext, onWorkloadChange, readTemplate } = options;
  const onChange = (change: StoreChange<Workload>) => {
    index.set(change.key, change.after?.references.map(configKey) ?? []);
    patterns.set(change.key, namespaceOf(change.key), change.after?.peer?.patterns ?? []);
    onWorkloadChange(change);
  };
  const cacheOf = (row: WorkloadRow): WorkloadCache =>
    new KindCache({
      kind: row.id,
      resource: row,
      namespaces,
      transform: (object, held, source) => {
        const mayFitNow = isLeftOut(held) && namespaceLimits.hasRoom(held?.namespace ?? "");
        if (held !== undefined && !mayFitNow && matchesObject(held, object, directiveContext))
          return withProgressOf(held, object);
        const read = workloadFrom(row, object, directiveContext, held, log);
        if (read === undefined || !isRelevant(read)) return undefined;
        const templateWrite =
          source === "watch"
            ? templateWriteAfter(read, object, held)
            : held?.uid === read.uid && held.template === read.template
              ? held.templateWrite
              : undefined;
        const workload = { ...read, templateWrite };
        return namespaceLimits.fit(held, workload, (exceeded) => withoutReferences(workload, exceeded));
      },
      completer:
        row.workloadRef &&
        readTemplate &&
        new BorrowedTemplates(row, { ...options, directiveContext, read: readTemplate }),
      versionOf: ({ resourceVersion }) => resourceVersion,
      same: sameWorkload,
      onChange,
      onReplaced: namespaceLimits.record,
      shouldRelist: () => namespaceLimits.hasRoomAnywhere,
      log,
    });
  return { caches: new Map(builtInKinds.map((row) => [row.id, cacheOf(row)])), cacheOf };
}

/**
 * Returns undefined for an object that is not a valid workload. The cache then forgets it: Wave would otherwise plan the
 * previous state forever and could never write it.
 */
function workloadFrom(
  row: WorkloadRow,
  object: KubeObject & WorkloadObject,
  directiveContext: DirectiveContext,
  held: Workload | undefined,
  log: Logger,
): Workload | undefined {
  try {
    return toWorkload(row, object, directiveContext);
  } catch (error) {
    if (!(error instanceof MalformedWorkload)) throw error;
    const { namespace, name, annotations } = object.metadata;
    // Other malformed objects are not reported: a Rollout that takes its pod template from a Deployment has none.
    const isExpected = held !== undefined || annotations?.[updateOnConfigChange] !== undefined;
    const fields = { kind: row.id, namespace, name, error: error.message };
    log[isExpected ? "warn" : "debug"](logMessages.malformedWorkload, fields);
    return undefined;
  }
}

function isRelevant(workload: Workload): boolean {
  return (
    workload.optIn.state !== "out" ||
    hasSchedulingHold(workload) ||
    workload.mistakes.length > 0 ||
    workload.oldFinalizer ||
    // The undo may have opted it out.
    isUndone(workload)
  );
}

/**
 * Returns the last write of the pod template of a workload that a watch has shown. `object` is what the watch shows now, and `held` the
 * workload before; undefined: it was not known. Each write has an event of its own, so the event that shows another pod template is that of
 * the write (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes).
 */
function templateWriteAfter(
  workload: Workload,
  object: { readonly metadata: ObjectMeta; readonly status?: unknown },
  held: Workload | undefined,
): TemplateWrite | undefined {
  if (workload.template === 0) return undefined;
  const { resourceVersion: revision, createdAt, templateEditedAt, rolledAt } = workload;
  if (held?.uid === workload.uid && held.template !== 0) {
    if (held.template === workload.template) return held.templateWrite;
    const isTimed = templateEditedAt > held.templateEditedAt || rolledAt > held.rolledAt;
    return {
      revision,
      at: isTimed ? Math.max(templateEditedAt, rolledAt) : undefined,
      editedAt: templateEditedAt,
      isFirst: false,
      hasOnlyNewPods: hasOneTemplate(held),
    };
  }
  // The controllers of these kinds write the status of each new object.
  const isNew = object.metadata.generation === 1 && fieldsOf(object.status).observedGeneration === undefined;
  return isNew && builtInKinds.includes(workload.row)
    ? { revision, at: createdAt, editedAt: templateEditedAt, isFirst: true, hasOnlyNewPods: true }
    : undefined;
}
