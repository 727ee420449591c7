import { withOtherContent } from "../../../domain/config/digest.ts";
import type { WorkloadName } from "../../../domain/model/workload-shape.ts";
import { type ConfigName, configKey, type Reference } from "../../../domain/references/references.ts";
import { presentOf, type ReadConfigs } from "../read/configs.ts";
import type { FoundWorkload } from "../read/pods.ts";
import type { ObjectFacts } from "../snapshot/read-one.ts";
import { type WorkloadSnapshot, withAllReferences } from "../snapshot/workload-snapshot.ts";
import type { WorkloadStateName } from "../states/state-rows.ts";
import { type ExplainedHold, type ExplainedOutcome, type ExplainedReference, heldOrRead } from "./explained-outcome.ts";
import { explainDecision, explainWorkload } from "./explanation.ts";

/** A workload that opted in and reads the object, and what Wave would do with it after an edit. */
export interface ObjectReader extends WorkloadName {
  readonly state: WorkloadStateName;
  /** The keys that the workload reads, or "all". */
  readonly keys: Reference["keys"];
  /** The outcome if each key of the object changed now. If the object does not exist, the outcome now. */
  readonly edit: ExplainedOutcome["outcome"];
  /** What would hold the rollout; null if nothing would. */
  readonly hold: ExplainedHold | null;
}

/** The output of `wave explain configmap/NAME`; docs/commands.md promises its fields. Contains no value and no digest of a value. */
export interface ObjectExplanation {
  readonly version: 1;
  readonly object: ConfigName;
  /** "held" if a person holds its changes, "ignored" if its annotation says so. */
  readonly state: ReturnType<typeof heldOrRead> | Extract<ExplainedReference["state"], "ignored">;
  /** Who holds its changes, and why; null if nobody does, or if that is unknown. */
  readonly holdReason: string | null;
  readonly readers: readonly ObjectReader[];
  /** The workloads that read the object and have not opted in. Wave does not roll them. */
  readonly notOptedIn: readonly WorkloadName[];
  /** Annotations and labels of the object that have no effect, as one line; null if there are none. */
  readonly misused: string | null;
  /** The reads that failed, one line each. */
  readonly unread: readonly string[];
}

/** Explains who reads a ConfigMap or Secret, and what an edit would do: the plan of each reader with other content. */
export function explainObject({ object, found, snapshots, others, policy, unread }: ObjectFacts): ObjectExplanation {
  const { kind, namespace, name } = object;
  const key = configKey(object);
  const referencesOf = (each: FoundWorkload) =>
    withAllReferences(each, policy).references.filter((reference) => configKey(reference) === key);
  const config = presentOf(found)?.config;
  // All snapshots share what was read.
  const [first] = snapshots;
  const edited: ReadConfigs = first === undefined ? new Map() : withEdit(first.read, key, first.now);
  return {
    version: 1,
    object: { kind, namespace, name },
    state: config?.directive === "ignore" ? "ignored" : heldOrRead(found),
    holdReason: config?.holdReason ?? null,
    readers: snapshots.flatMap((snapshot) => {
      const references = referencesOf(snapshot.found);
      return references.length === 0 ? [] : [readerOf(snapshot, references, edited)];
    }),
    notOptedIn: others.filter((each) => referencesOf(each).length > 0).map(({ workload }) => nameOf(workload)),
    misused: config?.misused ?? null,
    unread: [...(found !== undefined && "error" in found ? [found.error] : []), ...unread],
  };
}

function readerOf(snapshot: WorkloadSnapshot, references: readonly Reference[], read: ReadConfigs): ObjectReader {
  const { state } = explainWorkload(snapshot);
  // An edit is another change, for which no workload has rolled. Its batches only decide the order.
  const { outcome, hold } = explainDecision({ ...snapshot, read, batch: undefined }).explained;
  const readsAll = references.some(({ keys }) => keys === "all");
  const keys = readsAll ? "all" : [...new Set(references.flatMap((each) => (each.keys === "all" ? [] : each.keys)))];
  return { ...nameOf(snapshot.found.workload), state, keys, edit: outcome, hold };
}

/** Returns the objects with other content in one of them. No Pod has read it. */
function withEdit(read: ReadConfigs, key: string, now: number): ReadConfigs {
  const found = read.get(key);
  if (found?.state !== "present") return read;
  const config = { ...withOtherContent(found.config), changedAt: Math.floor(now / 1000), isUntimed: true } as const;
  return new Map([...read, [key, { ...found, config }]]);
}

function nameOf({ kind, namespace, name }: WorkloadName): WorkloadName {
  return { kind, namespace, name };
}
