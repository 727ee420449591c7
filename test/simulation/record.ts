import type { RequestedKind } from "../../src/domain/model/kinds/requested-kind.ts";

/** An object as the storage holds it: JSON with known metadata. It is never changed in place. */
export interface StoredObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: StoredMeta;
  readonly [field: string]: unknown;
}

/** The part of the metadata that the world and the judge read. */
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

/** The sender of a write. */
export interface Writer {
  /** "wave": a process of Wave; "world": people and tools; otherwise a controller of the cluster. */
  readonly actor: string;
  /** The process of Wave, such as "a#1". A restarted process has a new name. */
  readonly replica?: string;
  /** The `leaseTransitions` that the process had last written when the request was sent. */
  readonly term?: number;
  /** When the process sent the request, in true virtual milliseconds. The request may have arrived long after. */
  readonly sentAt?: number;
  readonly fieldManager?: string;
}

/** One write that the storage accepted. */
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
  /** The object as the webhook received it. */
  readonly object: StoredObject;
  readonly oldObject?: StoredObject;
  /** A JSON Patch. */
  readonly patch?: readonly object[];
  readonly warnings: readonly string[];
  /** The revision of the storage at the request and at the answer. */
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
  /** The maximum offset of its wall clock, in milliseconds. */
  readonly wallOffMs: number;
  /** From when on one of its watches was silent or late, so that it may not see that a rollout is complete; undefined: never. */
  readonly deafAt?: number | undefined;
  /** The time of the first list that it received to its end, by kind and namespace, such as "configmaps/shop". All namespaces: "configmaps/". */
  readonly listedAt: ReadonlyMap<string, number>;
}

/** The flags that delay due rollouts. */
export interface Pacing {
  readonly settleMs: number;
  readonly maxConcurrent: number;
  readonly soakMs: number;
  readonly haltAfterFailures: number;
  readonly rolloutTimeoutMs: number;
  readonly observe: boolean;
  readonly window: string | undefined;
}

/** The flags and features with which Wave starts in a run. */
export interface BatchSettings {
  readonly webhooks: boolean;
  readonly schedulingHold: boolean;
  readonly crossNamespace: "granted" | "any" | "none";
  /** The value of `--namespaces`; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly updateRate: number;
  readonly updateBurst: number;
  readonly syncPeriodMs: number;
  /** The value of `--workload-kinds`; undefined: none. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  /** Whether `--pin-config` is set. Default: no. */
  readonly pinConfig?: boolean;
  /** Undefined: nothing is delayed. */
  readonly pacing: Pacing | undefined;
  /** Whether `--gate-required` is set. Undefined: there is no alert gate. */
  readonly gateRequired?: boolean | undefined;
}

/** An answer of Prometheus that a process received. */
export interface AlertAnswer {
  /** True virtual milliseconds. */
  readonly at: number;
  readonly replica: string;
  /** The namespaces in which an alert fires; undefined: no answer. */
  readonly firing: readonly string[] | undefined;
}

/** What happens to the alerts in a round of the scene with alerts. */
export const alertTurns = ["fires before", "fires during", "Prometheus is away"] as const;

/** One round of the scene with alerts, as it was played. Times are true virtual milliseconds. */
export interface PlayedAlert {
  readonly turn: (typeof alertTurns)[number];
  /** When the ConfigMap was edited; undefined: the workloads were not complete before. */
  readonly editedAt: number | undefined;
  /** The workload that rolled first, and when an alert began to fire after that. */
  readonly canary: { readonly uid: string; readonly firesAt: number } | undefined;
  /** When no alert fired any more, and Prometheus answered again. */
  readonly endedAt: number;
  /** When a person resumed the canary, or nothing more held the change. */
  readonly releasedAt: number;
  /** When every workload had to be rolled to the edit. */
  readonly endAt: number;
}

/** A write that a process of Wave sent, whether it arrived or not. */
export interface SentWrite {
  /** True virtual milliseconds. */
  readonly at: number;
  readonly replica: string;
  /** Method and path. */
  readonly what: string;
  /** Whether no answer came, or an answer that does not show if the write was stored. */
  unanswered: boolean;
}

/** A start of a container, with the states of configuration that it could read. */
export interface ContainerStart {
  /** True virtual milliseconds. */
  readonly at: number;
  /** The revision whose configuration its variables have. */
  readonly rv: number;
  /** The revision whose configuration its files have: the kubelet may be up to 2 minutes late. */
  readonly filesRv: number;
  /** The uid of its Pod. */
  readonly pod: string;
  readonly container: string;
}

/** What happens between a rollout that is going to fail and its failure. A person or a newer edit decides in the second half. */
export const turns = {
  undecided: ["nothing", "new leader", "reset", "gap", "answersLost", "bad edit"],
  decided: ["resume", "hold", "halt", "template", "good edit"],
} as const;

/** One of {@link turns}. */
export type Turn = (typeof turns)[keyof typeof turns][number];

/** One round of the scene with workloads that return after a failed rollout, as it was played. Times are true virtual milliseconds. */
export interface PlayedReturn {
  /** When the edit with which Pods crash was stored; undefined: the workloads were not complete before. */
  readonly badAt: number | undefined;
  readonly turn: Turn;
  /** When a person or a newer edit decided, and about which workload. */
  readonly decided: { readonly at: number; readonly uid: string } | undefined;
  /** When the person released the hold. */
  readonly releasedAt: number | undefined;
  /** Whether a validator reads the ConfigMap and can check it. */
  readonly isValidated: boolean;
  /** When a good edit replaced the bad edit, and its content. */
  readonly fixedAt: number;
  readonly fixed: string;
  /** When every workload had to read the good edit. */
  readonly endAt: number;
}

/** What keeps the new Pod of a canary from its start, in the words of Kubernetes, or `exits`: its container ends. */
export const podFates = ["Unschedulable", "ImagePullBackOff", "FailedAttachVolume", "FailedCreate", "exits"] as const;

/** One part of the scene with rollouts that are stuck, as it was played. Times are true virtual milliseconds. */
export interface PlayedStuck {
  readonly namespace: string;
  readonly fate: (typeof podFates)[number];
  /** Whether the edit changed a Secret and nothing else. */
  readonly isSecret: boolean;
  /** When the configuration was edited; undefined: the workloads were not complete before. */
  readonly editedAt: number | undefined;
  /** The workload that rolled first, and when; undefined: none did. */
  readonly canary: { readonly uid: string; readonly rolledAt: number } | undefined;
  /** When it was edited again; undefined: it was not. */
  readonly newerAt: number | undefined;
  /** When new Pods could start, or a good edit came. */
  readonly releasedAt: number;
  /** When every workload had rolled to the last edit and was complete; undefined: not within half an hour. */
  readonly doneAt: number | undefined;
}

/** The record of a run, after the faults have stopped and Wave had time to make everything correct. */
export interface Recording {
  readonly seed: number;
  /** The true wall-clock time at the start, milliseconds since the epoch. */
  readonly epoch: number;
  readonly settings: BatchSettings;
  /** Everything that was stored, by revision, with Events and Leases. */
  readonly history: readonly HistoryEntry[];
  readonly reviews: readonly ReviewEntry[];
  readonly lives: readonly Life[];
  readonly sent: readonly SentWrite[];
  /** When the world and the faults stopped; the history continues for 30 s or more. */
  readonly calmAt: number;
  /** The moments at which everything had to be correct, in order: 30 s later, and after each later action. */
  readonly rightAt: readonly number[];
  /** The namespace of `settings.namespaces` that could not be listed until the end. */
  readonly unlisted: string | undefined;
  readonly endAt: number;
  /** Every start of a container, oldest first, and the moments at which every Pod had to be right. Undefined: not recorded. */
  readonly containers?: { readonly starts: readonly ContainerStart[]; readonly rightAt: readonly number[] } | undefined;
  /** When the API server began to be down for a moment, after the faults had stopped. Default: never. */
  readonly gapsAt?: readonly number[];
  /** The rounds of the scene with returns. Default: none was played. */
  readonly returned?: readonly PlayedReturn[];
  /** The parts of the scene with stuck rollouts. Default: none was played. */
  readonly stuck?: readonly PlayedStuck[];
  /** The rounds of the scene with alerts, and all answers of Prometheus. Default: there is no alert gate. */
  readonly alerted?: { readonly rounds: readonly PlayedAlert[]; readonly answers: readonly AlertAnswer[] } | undefined;
}

/** The access of the administrator to the API server: without faults, but with webhooks as for every client. */
export interface Api {
  /** Never rejects because of a status. */
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

/** People and tools that change objects. */
export interface World {
  /** The settings of Wave from the seed. */
  readonly settings: BatchSettings;
  /** Creates the namespaces and the first objects. */
  start(): Promise<void>;
  /**
   * Does one action, which may be several requests, and returns a description in one line. Actions may overlap.
   * `wanted` is the name of an action, which is chosen if it is possible.
   */
  step(wanted?: string): Promise<string>;
  /** Ends actions that repeat. */
  rest(): void;
  /** Removes everything that holds a rollout, and repairs all configuration with which Pods crash. */
  release(): Promise<void>;
}

/** The inputs of a world. */
export interface WorldOptions {
  readonly api: Api;
  /** Returns numbers in [0, 1), from the seed. */
  readonly random: () => number;
  /** Returns virtual milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Everything that was stored so far, which `rollout undo` may restore. The list grows. */
  readonly history: readonly HistoryEntry[];
  /** Whether Widgets exist and `--workload-kinds` names them. */
  readonly widgets?: boolean;
  /** Whether the Pods of some workloads crash from the start. */
  readonly broken?: boolean;
  /** Whether some Deployments are validators. */
  readonly validators?: boolean;
  /** Whether `--gate-required` is set; undefined: there is no alert gate. */
  readonly gateRequired?: boolean | undefined;
  /** Whether workloads of a later scene are pinned, so that `--pin-config` is set. */
  readonly returns?: boolean;
  /** Whether workloads are pinned. */
  readonly pinned?: boolean;
  /** Whether people install manifests whose Pods read other configuration. */
  readonly releases?: boolean;
  /** The pacing flags and the true wall-clock time; undefined: nothing is delayed. */
  readonly paced?: { readonly pacing: Pacing; readonly wall: () => number } | undefined;
}
