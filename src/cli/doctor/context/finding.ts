import type { ReadFailure } from "../../cluster/requests.ts";
import { sentences } from "../../output/sentences.ts";

/** The severities of a finding, the worst first, with their meanings. */
export const severities = {
  problem: "Something does not work as intended. Exit code 1.",
  warning: "This works, but a person should look at it.",
  unchecked: "The check is incomplete, usually because you lack a permission. Exit code 3 if there is no problem.",
  ok: "The check found nothing.",
} as const;

/** The severity of a finding, or `ok` if a check found nothing. */
export type Severity = keyof typeof severities;

/** The object that a finding is about. */
export interface ObjectRef {
  readonly kind: string;
  /** Null for an object without a namespace. */
  readonly namespace: string | null;
  readonly name: string;
}

/** One finding of a check. Contains no value of a ConfigMap or Secret. */
export interface Finding {
  readonly severity: Exclude<Severity, "ok">;
  /** Null if the finding is not about one object. */
  readonly where: ObjectRef | null;
  /** One line: the state and its cause. */
  readonly what: string;
  /** The next step: a command or a sentence; null if there is nothing to do. */
  readonly fix: string | null;
  /** The permissions that the check lacked: "list pods in shop". */
  readonly needs: readonly string[];
}

/** The result of one check. The check is `ok` if `found` is empty. */
export interface CheckResult {
  readonly found: readonly Finding[];
  /** The summary if nothing was found: "2 of 2 replicas are ready". Absent if something was found. */
  readonly fine?: string;
}

/** Returns a finding about something that does not work. */
export function problem(where: ObjectRef | null, what: string, fix: string | null): Finding {
  return finding("problem", where, what, fix);
}

/** Returns a finding about something that works, but that a person should look at. */
export function warning(where: ObjectRef | null, what: string, fix: string | null): Finding {
  return finding("warning", where, what, fix);
}

/** Returns a finding about something that could not be checked. */
export function unchecked(where: ObjectRef | null, what: string, needs: readonly string[] = []): Finding {
  return finding("unchecked", where, what, null, needs);
}

function finding(
  severity: Finding["severity"],
  where: ObjectRef | null,
  what: string,
  fix: string | null,
  needs: readonly string[] = [],
): Finding {
  // An object of the caller may have more fields, which are no part of the output.
  const named = where && { kind: where.kind, namespace: where.namespace, name: where.name };
  return { severity, where: named, what, fix, needs };
}

/** Returns a finding about a failed read: what was not checked, and the cause. */
export function notRead(where: ObjectRef | null, what: string, { unread, needs }: ReadFailure): Finding {
  return unchecked(where, sentences(what, unread), needs);
}

/** Returns an object for messages: `deployment/web in shop`. */
export function describeRef({ kind, namespace, name }: ObjectRef): string {
  return `${kind.toLowerCase()}/${name}${namespace === null ? "" : ` in ${namespace}`}`;
}

/** Returns the arguments of kubectl for an object: `-n shop deployment/web`. */
export function kubectlArguments({ kind, namespace, name }: ObjectRef): string {
  return `${namespace === null ? "" : `-n ${namespace} `}${kind.toLowerCase()}/${name}`;
}
