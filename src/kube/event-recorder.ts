/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for an object without a namespace; its Events are then kept in "default". */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Something to tell the owner of an object. */
export interface ObjectEvent {
  readonly regarding: ObjectReference;
  readonly type: "Normal" | "Warning";
  /** CamelCase. */
  readonly reason: string;
  /** Cut at 1,024 bytes. Never holds a value of a ConfigMap or Secret. */
  readonly message: string;
}

/** Writes core/v1 Events. */
export interface EventRecorder {
  /** Resolves when it is written or has failed, which is logged: never rejects. Repeats raise the first Event's count. */
  record(event: ObjectEvent): Promise<void>;
}
