import type { ReadFailure } from "../cluster/read-result.ts";

/** How much something matters, the worst first, as `wave doctor --help` tells it. */
export const severities = {
  problem: "something does not work, or not as it was meant: exit code 1",
  warning: "it works, and somebody should look at it",
  unchecked: "it could not be looked at, and why: mostly a permission that you do not have; exit code 3",
  ok: "nothing was found",
} as const;

/** One of them. */
export type Severity = keyof typeof severities;

/** An object that something was found about. */
export interface ObjectRef {
  readonly kind: string;
  /** Null for what has none. */
  readonly namespace: string | null;
  readonly name: string;
}

/** What a check found. Never a value of a ConfigMap or Secret. */
export interface Finding {
  readonly severity: Exclude<Severity, "ok">;
  /** Null where it is about no single object. */
  readonly where: ObjectRef | null;
  /** One line: what is wrong. */
  readonly what: string;
  /** What to do: a command, or a sentence; null where nothing is to be done. */
  readonly fix: string | null;
  /** With which permissions it could have been looked at, each as "list pods in shop". */
  readonly needs: readonly string[];
}

/** What came of one check. */
export interface CheckResult {
  readonly found: readonly Finding[];
  /** What was looked at, for where nothing was found: "2 of 2 replicas are ready". */
  readonly fine: string;
}

/** Something that does not work. */
export function problem(where: ObjectRef | null, what: string, fix: string | null): Finding {
  return { severity: "problem", where, what, fix, needs: [] };
}

/** Something that somebody should look at. */
export function warning(where: ObjectRef | null, what: string, fix: string | null): Finding {
  return { severity: "warning", where, what, fix, needs: [] };
}

/** Something that could not be looked at. */
export function unchecked(where: ObjectRef | null, what: string, needs: readonly string[] = []): Finding {
  return { severity: "unchecked", where, what, fix: null, needs };
}

/** Something that was asked for and could not be had: what would be known by it, and why it is not. */
export function notRead(where: ObjectRef | null, what: string, { unread, needs }: ReadFailure): Finding {
  return unchecked(where, `${what}: ${unread}`, needs);
}

/** `deployment/web in shop`. */
export function describeRef({ kind, namespace, name }: ObjectRef): string {
  return `${kind.toLowerCase()}/${name}${namespace === null ? "" : ` in ${namespace}`}`;
}

/** How kubectl is told of an object: `-n shop deployment/web`. */
export function kubectlArguments({ kind, namespace, name }: ObjectRef): string {
  return `${namespace === null ? "" : `-n ${namespace} `}${kind.toLowerCase()}/${name}`;
}

/** How `wave` is told of a workload. */
export function waveArguments({ kind, namespace, name }: ObjectRef): string {
  return `${kind.toLowerCase()}/${name} -n ${namespace}`;
}
