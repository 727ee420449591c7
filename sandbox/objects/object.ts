import type { JsonObject } from "./json.ts";

/** Who set which fields when. https://kubernetes.io/docs/reference/using-api/server-side-apply/#managed-fields */
export interface ManagedFieldsEntry extends JsonObject {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** RFC 3339 in whole seconds, UTC. */
  readonly time: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: JsonObject;
  readonly subresource?: string;
}

/** The object that another one belongs to. */
export interface OwnerReference extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** What every stored object says of itself. Timestamps are RFC 3339 in whole seconds, UTC. */
export interface ObjectMeta extends JsonObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: { readonly [label: string]: string };
  readonly annotations?: { readonly [annotation: string]: string };
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** An object as it is stored and served. */
export interface ApiObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** Formats a time, in milliseconds since 1970, as objects contain it: RFC 3339 in whole seconds, UTC. */
export function timestamp(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
