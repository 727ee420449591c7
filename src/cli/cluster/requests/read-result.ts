import { isForbidden } from "../../../kube/api/errors.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";

/** The cause of a failed read. */
export interface ReadFailure {
  /** One line: "you do not have permission to list pods in shop", or the error. */
  readonly unread: string;
  /** The permissions that the read needs and the user lacks: "list pods in shop". */
  readonly needs: readonly string[];
}

/** The result of a read, or the cause of its failure. */
export type ReadResult<T> = { readonly read: T } | ReadFailure;

/** Runs a read that needs a permission, such as "list pods in shop". A failure names the permission that is missing. Never rejects. */
export async function tryRead<T>(permission: string, read: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { read: await read() };
  } catch (error) {
    return toReadFailure(permission, error);
  }
}

/** Returns the failure of a read that needs a permission. */
export function toReadFailure(permission: string, error: unknown): ReadFailure {
  return isForbidden(error)
    ? { unread: `you do not have permission to ${permission}`, needs: [permission] }
    : { unread: `the request failed: ${errorText(error)}`, needs: [] };
}

/** Returns the scope of a request for messages: `in shop` or `in all namespaces`. */
export function inScope(namespace: string | undefined): string {
  return namespace === undefined ? "in all namespaces" : `in ${namespace}`;
}
