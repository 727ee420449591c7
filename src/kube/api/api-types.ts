import type { ObjectMeta as OptionalObjectMeta, Status as ServerStatus } from "#kubernetes";

/** Metadata of an object that the API server has stored: name, uid and resourceVersion are then always there. */
export interface ObjectMeta extends Omit<OptionalObjectMeta, "name" | "uid" | "resourceVersion"> {
  readonly name: string;
  readonly uid: string;
  /** Opaque: compare for equality only (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions). */
  readonly resourceVersion: string;
}

/** What every object of the API has. Items of a list carry neither `apiVersion` nor `kind`. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** A page of a list (https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks). */
export interface KubeList<T extends KubeObject> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[] | null;
}

/** How the API server tells of a failure, as the body of an answer and as the object of an `ERROR` watch event. */
export type Status = ServerStatus;

/** One line of a watch (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes). */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  | { readonly type: "ERROR"; readonly object: Status };
