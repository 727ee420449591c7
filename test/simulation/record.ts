import type { RequestedKind } from "../../src/domain/model/kinds/requested-kind.ts";

/** An object as the storage holds it: JSON whose metadata is known. Never changed in place. */
export interface StoredObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: StoredMeta;
  readonly [field: string]: unknown;
}

/** Of the metadata, what world and judge look at. */
export interface StoredMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[];
}

/** Who asked for a write. */
export interface Writer {
  /** "wave": a process of Wave; "world": people and tools; else a controller of the cluster. */
  readonly actor: string;
  /** The process of Wave, such as "a#1": one that was started anew is another one. */
  readonly replica?: string;
  /** The `leaseTransitions` that the process wrote last when the request was sent. */
  readonly term?: number;
  /** When the process sent the request, in true virtual milliseconds: it may have arrived long after. */
  readonly sentAt?: number;
  readonly fieldManager?: string;
}

/** One write that the storage took. */
export interface HistoryEntry {
  /** True virtual milliseconds since the start, which no process sees. */
  readonly at: number;
  readonly rv: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The plural of the kind, such as "configmaps". */
  readonly resource: string;
  readonly before?: StoredObject;
  readonly after?: StoredObject;
  readonly by: Writer;
}

/** One answer of Wave's webhook that the API server used. */
export interface ReviewEntry {
  readonly at: number;
  readonly replica: string;
  readonly operation: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** As the webhook got it. */
  readonly object: StoredObject;
  readonly oldObject?: StoredObject;
  /** A JSON Patch. */
  readonly patch?: readonly object[];
  readonly warnings: readonly string[];
  /** The revision of the storage when it was asked, and when it was answered. */
  readonly askedRv: number;
  readonly answeredRv: number;
}

/** One process of Wave. */
export interface Life {
  readonly replica: string;
  readonly from: number;
  readonly to: number | undefined;
  readonly end: "crashed" | "stopped" | undefined;
  readonly pauses: readonly (readonly [number, number])[];
  /** How far its wall clock was off at most, in milliseconds. */
  readonly wallOffMs: number;
}

/** The flags that say when what is due may happen. */
export interface Pacing {
  readonly settleMs: number;
  readonly settleMaxMs: number;
  readonly maxConcurrent: number;
  readonly canarySize: number;
  readonly soakMs: number;
  readonly haltAfterFailures: number;
  readonly rolloutTimeoutMs: number;
  readonly observe: boolean;
  readonly window: string | undefined;
}

/** How Wave is started in a run. */
export interface BatchSettings {
  readonly webhooks: boolean;
  readonly schedulingHold: boolean;
  readonly crossNamespace: "granted" | "any" | "none";
  /** What `--namespaces` names; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly updateRate: number;
  readonly updateBurst: number;
  readonly syncPeriodMs: number;
  /** What `--workload-kinds` names; undefined: nothing. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  /** Undefined: everything happens at once. */
  readonly pacing: Pacing | undefined;
}

/** A write that a process of Wave has sent, whether it arrived or not. */
export interface SentWrite {
  /** True virtual milliseconds. */
  readonly at: number;
  readonly replica: string;
  /** Method and path. */
  readonly what: string;
  /** No answer came, or one that leaves open whether it was stored. */
  unanswered: boolean;
}

/** What happened in a run, once the faults have stopped and everything had time to become right. */
export interface Recording {
  readonly seed: number;
  /** What a right clock on the wall showed in the beginning, milliseconds since the epoch. */
  readonly epoch: number;
  readonly settings: BatchSettings;
  /** Everything that was stored, by revision; Events and Leases too. */
  readonly history: readonly HistoryEntry[];
  readonly reviews: readonly ReviewEntry[];
  readonly lives: readonly Life[];
  readonly sent: readonly SentWrite[];
  /** When world and faults had stopped; history goes on for 30 s and more. */
  readonly calmAt: number;
  /** When everything had to be right, in order: 30 s later, and after each thing that was done then. */
  readonly rightAt: readonly number[];
  /** The namespace of `settings.namespaces` that could not be listed until the end. */
  readonly unlisted: string | undefined;
  readonly endAt: number;
}

/** The administrator's way to the API server: nothing goes wrong on it, and webhooks are asked as for everybody. */
export interface Api {
  /** Never rejects for a status. */
  request(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    options?: {
      readonly query?: Readonly<Record<string, string>>;
      readonly body?: object;
      readonly contentType?: string;
      /** The field manager, such as "helm". Default "kubectl". */
      readonly manager?: string;
    },
  ): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** People and tools that change things. */
export interface World {
  /** What the seed chose for Wave. */
  readonly settings: BatchSettings;
  /** Makes the namespaces and the first objects. */
  start(): Promise<void>;
  /**
   * One thing that somebody does, which may be several requests; says what it was, in one line. Steps may overlap.
   * `wanted` is the name of an action, which is taken where it can be.
   */
  step(wanted?: string): Promise<string>;
  /** Ends what somebody does again and again. */
  rest(): void;
  /** Lifts everything that holds a roll, and mends all configuration with which Pods crash. */
  release(): Promise<void>;
}

/** What a world is made from. */
export interface WorldOptions {
  readonly api: Api;
  /** Numbers in [0, 1), from the seed. */
  readonly random: () => number;
  /** Virtual milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Everything that was stored so far: `rollout undo` goes back to what was. It grows. */
  readonly history: readonly HistoryEntry[];
  /** Whether there are Widgets, and Wave is told of them. */
  readonly widgets?: boolean;
  /** When what is due may happen, and what a right clock on the wall shows; undefined: everything happens at once. */
  readonly paced?: { readonly pacing: Pacing; readonly wall: () => number } | undefined;
}
