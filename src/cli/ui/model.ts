// What the page of `wave ui` shows. The server makes it from the decision that all commands share; the page only renders it.
// Contains no value of any object and no digest of a value.
import type { WorkloadStateName } from "../cluster/states/state-rows.ts";
import type { TimelineEntry as ClusterEntry } from "../cluster/timeline/timeline.ts";

/** A workload, a change or an object of the page: unique in the model, stable while the page is open. */
export type Id = string;

/** Everything that the page shows at one moment. Times are milliseconds since the epoch. */
export interface Model {
  readonly clusters: Readonly<Record<Id, ClusterHeader>>;
  readonly workloads: Readonly<Record<Id, WorkloadRow>>;
  readonly changes: Readonly<Record<Id, Change>>;
  readonly tasks: Readonly<Record<Id, Task>>;
}

/** A server-sent event: the whole model first, later only the rows that differ. `null` removes a row. */
export type Update =
  | { readonly type: "model"; readonly at: number; readonly model: Model }
  | {
      readonly type: "difference";
      readonly at: number;
      readonly rows: { readonly [Table in keyof Model]?: Readonly<Record<Id, Model[Table][Id] | null>> };
    };

/** A context of the kubeconfig, and who works in its cluster. */
export interface ClusterHeader {
  readonly id: Id;
  readonly context: string;
  /** Whether the last read succeeded. `error` is the reason in one line if it failed; the rows stay as they were at `readAt`. */
  readonly connection: { readonly state: "connected" | "connecting" | "lost"; readonly error: string | null };
  readonly readAt: number | null;
  readonly leader: { readonly identity: string; readonly renewedAt: number; readonly isFresh: boolean } | null;
  /** Replicas of Wave that are ready and not the leader. */
  readonly standbys: number;
  readonly webhook: "ready" | "failing" | "absent" | "unknown";
  readonly notifications: "configured" | "absent" | "unknown";
  /** Findings of `wave doctor` that need a person, one line each; null until it has run. */
  readonly doctor: readonly string[] | null;
  /** Whether a person holds the whole cluster, and why. */
  readonly hold: string | null;
  /** What could not be read, one line each: rows may be missing or unknown. */
  readonly notes: readonly string[];
}

/** One workload that has opted in. */
export interface WorkloadRow {
  readonly id: Id;
  readonly cluster: Id;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly state: WorkloadStateName;
  /** Whether the state lasts until a person acts: red, halted, held by a person, without an approval, unproven or stuck. */
  readonly needsPerson: boolean;
  /** The cause of the state as one word; null if there is none. */
  readonly because: string | null;
  /** The sentence for people. */
  readonly message: string;
  readonly since: number | null;
  /** When the state ends by itself; null if it does not, or if that is unknown. */
  readonly until: number | null;
  /** The command to copy; null if there is nothing to do. */
  readonly command: string | null;
  /** Not shown: a page that shows the workload reads its details again when the hash differs. */
  readonly hash: string | null;
  readonly pods: { readonly total: number; readonly ready: number; readonly current: number } | null;
  /** At most 60 Pods, the oldest first. */
  readonly podList: readonly PodSquare[];
  /** The objects that its Pods read, as `configmap/NAME` or `secret/NAME`. */
  readonly reads: readonly string[];
}

/** One Pod, as a small square. */
export interface PodSquare {
  readonly name: string;
  readonly content: "new" | "old" | "unknown";
  readonly phase: "starting" | "ready" | "notReady" | "failed" | "terminating";
}

/** An edit of one object, and the workloads that roll because of it, in the order of their batches. */
export interface Change {
  readonly id: Id;
  readonly cluster: Id;
  readonly namespace: string;
  /** `configmap/NAME` or `secret/NAME`. */
  readonly object: string;
  /** Names of the changed keys; empty if unknown. Never values. */
  readonly keys: readonly string[];
  readonly editor: string | null;
  readonly editedAt: number | null;
  readonly state: "rolling" | "stuck" | "soaking" | "waiting" | "halted" | "complete";
  /** The sentence for people. */
  readonly message: string;
  /** When the soak ends; null if none runs. */
  readonly soakUntil: number | null;
  /** The workload that all others wait for. */
  readonly waitsFor: Id | null;
  readonly batches: readonly Batch[];
  readonly failure: Failure | null;
}

/** Workloads that a change rolls together. Number 0 is the canary. */
export interface Batch {
  readonly number: number;
  readonly workloads: readonly {
    readonly id: Id;
    readonly state: "waiting" | "rolling" | "stuck" | "complete" | "failed";
  }[];
}

/** The workload that halted a change. */
export interface Failure {
  readonly workload: Id;
  /** The Pod and its container; null if Kubernetes reports none. */
  readonly pod: string | null;
  readonly container: string | null;
  readonly exitCode: number | null;
  /** The reason that Kubernetes gives, for example `CrashLoopBackOff`. */
  readonly reason: string | null;
  /** The command that shows the log. */
  readonly logCommand: string | null;
  /** Pods of all readers that run with the old content. */
  readonly podsWithOldContent: number;
  /** Pods of all readers that would read the new content if their containers restart. */
  readonly podsAtRisk: number;
  /** The command that continues the change. */
  readonly resumeCommand: string;
}

/** What only a person can do. */
export interface Task {
  readonly id: Id;
  readonly cluster: Id;
  readonly namespace: string;
  /** `KIND/NAME`. */
  readonly about: string;
  readonly type: "approval" | "hold" | "window";
  /** The person who holds; null if unknown. */
  readonly by: string | null;
  readonly reason: string | null;
  /** The objects and keys that changed behind it, for example `configmap/page (color)`, with the editor. */
  readonly changes: readonly {
    readonly object: string;
    readonly keys: readonly string[];
    readonly editor: string | null;
  }[];
  /** When the window opens; null for approvals and holds. */
  readonly until: number | null;
  readonly command: string | null;
}

/** Why a workload runs what it runs. Fetched when a workload is opened. */
export interface WorkloadDetail {
  /** The text of `wave explain`. */
  readonly explanation: string;
  readonly pods: readonly (PodSquare & {
    readonly createdAt: number;
    readonly revision: string | null;
    readonly restarts: number;
    /** How it is known which content the Pod has read. */
    readonly proof: string;
  })[];
  readonly references: readonly {
    readonly path: string;
    readonly object: string;
    readonly keys: readonly string[] | "all";
    readonly state: string;
  }[];
  readonly holds: readonly { readonly text: string; readonly command: string | null }[];
  /** The newest first. */
  readonly history: readonly {
    readonly revision: number;
    readonly createdAt: number | null;
    readonly isCurrent: boolean;
    readonly cause: string | null;
    readonly result: string | null;
  }[];
}

/** What an edit of an object would roll. Fetched when an object is opened. */
export interface ObjectDetail {
  readonly state: string;
  readonly readers: readonly {
    readonly workload: Id;
    readonly name: string;
    readonly keys: readonly string[] | "all";
    readonly edit: string;
    readonly hold: string | null;
  }[];
  readonly notOptedIn: readonly string[];
}

/** An entry of the timeline of a cluster. */
export interface TimelineEntry extends ClusterEntry {
  readonly cluster: Id;
}
