import type { Unread } from "../cluster/reading.ts";

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
export interface Place {
  readonly kind: string;
  /** Null for what has none. */
  readonly namespace: string | null;
  readonly name: string;
}

/** What a check found. Never a value of a ConfigMap or Secret. */
export interface Found {
  readonly severity: Exclude<Severity, "ok">;
  /** Null where it is about no single object. */
  readonly where: Place | null;
  /** One line: what is wrong. */
  readonly what: string;
  /** What to do: a command, or a sentence; null where nothing is to be done. */
  readonly fix: string | null;
  /** With which permissions it could have been looked at, each as "list pods in shop". */
  readonly needs: readonly string[];
}

/** What came of one check. */
export interface Examined {
  readonly found: readonly Found[];
  /** What was looked at, for where nothing was found: "2 of 2 replicas are ready". */
  readonly fine: string;
}

/** Something that does not work. */
export function problem(where: Place | null, what: string, fix: string | null): Found {
  return { severity: "problem", where, what, fix, needs: [] };
}

/** Something that somebody should look at. */
export function warning(where: Place | null, what: string, fix: string | null): Found {
  return { severity: "warning", where, what, fix, needs: [] };
}

/** Something that could not be looked at. */
export function unchecked(where: Place | null, what: string, needs: readonly string[] = []): Found {
  return { severity: "unchecked", where, what, fix: null, needs };
}

/** Something that was asked for and could not be had: what would be known by it, and why it is not. */
export function notRead(where: Place | null, what: string, { unread, needs }: Unread): Found {
  return unchecked(where, `${what}: ${unread}`, needs);
}

/** `deployment/web in shop`. */
export function placeText({ kind, namespace, name }: Place): string {
  return `${kind.toLowerCase()}/${name}${namespace === null ? "" : ` in ${namespace}`}`;
}

/** How kubectl is told of an object: `-n shop deployment/web`. */
export function kubectlName({ kind, namespace, name }: Place): string {
  return `${namespace === null ? "" : `-n ${namespace} `}${kind.toLowerCase()}/${name}`;
}

/** How `wave` is told of a workload. */
export function nameForWave({ kind, namespace, name }: Place): string {
  return `${kind.toLowerCase()}/${name} -n ${namespace}`;
}
