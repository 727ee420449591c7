import { isForbidden } from "../../kube/api/errors.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";

/** Why something could not be had. */
export interface Unread {
  /** One line: "you may not list pods in shop", or what went wrong. */
  readonly unread: string;
  /** The permissions without which it cannot be had, each as a person asks for it: "list pods in shop". */
  readonly needs: readonly string[];
}

/** What was asked for, or why it could not be had. */
export type Read<T> = { readonly read: T } | Unread;

/** Asks for something that takes a permission, such as "list pods in shop": who lacks it is told which. */
export async function reading<T>(permission: string, ask: () => Promise<T>): Promise<Read<T>> {
  try {
    return { read: await ask() };
  } catch (error) {
    return unreadFor(permission, error);
  }
}

/** What an error says to somebody who asked for something that takes a permission. */
export function unreadFor(permission: string, error: unknown): Unread {
  return isForbidden(error)
    ? { unread: `you may not ${permission}`, needs: [permission] }
    : { unread: errorText(error), needs: [] };
}

/** Where something is asked for: `in shop`, `in all namespaces`. */
export function within(namespace: string | undefined): string {
  return namespace === undefined ? "in all namespaces" : `in ${namespace}`;
}
