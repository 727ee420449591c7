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
export interface Author {
  /** "wave": a process of Wave; "world": the administrator; "cluster": the sandbox's own controllers. */
  readonly actor: "wave" | "world" | "cluster";
  /** The process of Wave; one that was started anew is another one. */
  readonly replica?: string;
  /** When that process gave the request to its connection, in true virtual milliseconds. */
  readonly sentAt?: number;
  readonly fieldManager?: string;
}

/** One write that the storage took. */
export interface HistoryEntry {
  /** True virtual milliseconds, which no process sees. */
  readonly at: number;
  readonly rv: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The plural of the kind, such as "configmaps". */
  readonly resource: string;
  readonly before?: StoredObject;
  readonly after?: StoredObject;
  readonly by: Author;
}

/** One answer of Wave's webhook that the API server used. */
export interface ReviewEntry {
  readonly askedAt: number;
  readonly answeredAt: number;
  /** How many entries history had when it was asked, and when it was answered. */
  readonly from: number;
  readonly to: number;
  readonly replica: string;
  readonly operation: "CREATE" | "UPDATE";
  /** As the webhook got it. */
  readonly object: StoredObject;
  readonly oldObject?: StoredObject;
  /** With the answer's patch applied. */
  readonly patched: StoredObject;
}

/** What the judge gets once the faults have stopped and everything had time to become right. */
export interface Run {
  readonly scenario: Scenario;
  /** From the first write to the last; later entries come later. */
  readonly history: readonly HistoryEntry[];
  readonly reviews: readonly ReviewEntry[];
  /** When faults and world had stopped, and nothing but Wave and the cluster wrote any more. */
  readonly calmAt: number;
  readonly endedAt: number;
  /** When each process of Wave crashed, if it did. */
  readonly crashes: readonly { readonly replica: string; readonly at: number }[];
  /** Where Wave's Lease is; undefined without leader election. */
  readonly lease?: { readonly namespace: string; readonly name: string };
}

/** What the seed chose for a run: Wave's settings, and what kind of world it lives in. */
export interface Scenario {
  readonly name: string;
  readonly webhooks: boolean;
  readonly schedulingGate: boolean;
  readonly crossNamespace: "granted" | "any" | "none";
  /** What `--namespaces` names; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly world: WorldShape;
}

/** How large the world is, and what happens in it. */
export interface WorldShape {
  readonly namespaces: readonly string[];
  readonly workloads: number;
  readonly configs: number;
  /** How often each action is taken, by its name; absent: as often as its row says. */
  readonly weights: Readonly<Record<string, number>>;
}

/** An answer of the API server. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The administrator's way to the API server: nothing goes wrong on it, and webhooks are asked as for everybody. */
export interface Api {
  readonly request: (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    options?: {
      readonly body?: unknown;
      readonly contentType?: string;
      readonly query?: Readonly<Record<string, string>>;
    },
  ) => Promise<ApiAnswer>;
  /** Virtual milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** People and tools that change things. */
export interface World {
  /** Makes the namespaces and the first objects. */
  readonly begin: () => Promise<void>;
  /** One thing that somebody does, which may be several requests; says what it was, in one line. */
  readonly step: () => Promise<string>;
}

/** Numbers in [0, 1), from the seed. */
export type Random = () => number;
