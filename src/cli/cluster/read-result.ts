import { isForbidden } from "../../kube/api/errors.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";

/** Why something could not be had. */
export interface ReadFailure {
  /** One line: "you may not list pods in shop", or what went wrong. */
  readonly unread: string;
  /** The permissions without which it cannot be had, each as a person asks for it: "list pods in shop". */
  readonly needs: readonly string[];
}

/** What was asked for, or why it could not be had. */
export type ReadResult<T> = { readonly read: T } | ReadFailure;

/** Asks for something that takes a permission, such as "list pods in shop": who lacks it is told which. */
export async function tryRead<T>(permission: string, ask: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { read: await ask() };
  } catch (error) {
    return toReadFailure(permission, error);
  }
}

/** What an error says to somebody who asked for something that takes a permission. */
export function toReadFailure(permission: string, error: unknown): ReadFailure {
  return isForbidden(error)
    ? { unread: `you may not ${permission}`, needs: [permission] }
    : { unread: errorText(error), needs: [] };
}

/** Where something is asked for: `in shop`, `in all namespaces`. */
export function inScope(namespace: string | undefined): string {
  return namespace === undefined ? "in all namespaces" : `in ${namespace}`;
}
