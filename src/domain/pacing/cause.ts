// The cause of a rollout: an annotation of the workload, written in the patch of the hash. Kubernetes copies the annotations of a workload to
// the ReplicaSet or ControllerRevision that it creates, so that each revision has its cause (ADR 22).
import type { RolloutEdit } from "../outcomes/outcomes.ts";
import { type ConfigKind, configKinds } from "../references/references.ts";
import { fieldsOf } from "../syntax/json.ts";
import { formatTime, parseTime } from "../syntax/time.ts";
import { digitsOf } from "./requested-holds.ts";

/** The most characters of the reason, names of objects and keys, and bytes of the annotation. */
const maxReason = 400;
const maxNames = 10;
const maxBytes = 1_024;

/** When and why Wave started a rollout. */
export interface Cause {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** One clause, such as `ConfigMap "web" changed (key "page")`. */
  readonly why: string;
  /** The edits behind it, as far as Wave knows them, at most ten names of objects and keys. */
  readonly edits: readonly RolloutEdit[];
  /** What held it before, as in {@link HoldReason}; undefined if nothing did for long. */
  readonly heldBy: string | undefined;
}

/** Returns the annotation that records a rollout to a hash, at most 1 KiB. Edits that do not fit are missing. */
export function writeCause(hash: string, { at, why, edits, heldBy }: Cause): string {
  const named = firstNames(edits).map((edit) => ({
    ...edit,
    at: edit.at === undefined ? undefined : formatTime(edit.at),
  }));
  const record = { hash: firstDigits(hash), at: formatTime(at), why: why.slice(0, maxReason), edits: named, heldBy };
  for (;;) {
    const text = JSON.stringify(record);
    if (Buffer.byteLength(text) <= maxBytes) return text;
    if (record.edits.pop() === undefined) record.why = record.why.slice(0, -10);
  }
}

/** Returns the first objects and keys, by the limit of names. */
function firstNames(edits: readonly RolloutEdit[]): readonly RolloutEdit[] {
  let left = maxNames;
  return edits.flatMap((edit) => {
    if (left <= 0) return [];
    const keys = edit.keys.slice(0, left - 1);
    left -= 1 + keys.length;
    return [{ ...edit, keys }];
  });
}

/**
 * Returns the cause of the rollout to a hash from the annotation; undefined if Wave did not start that rollout: the annotation is absent, malformed
 * or of another hash. Without a hash in the pod template, only Pods were replaced, and the cause has no digits.
 */
export function parseCause(hash = "", annotation: string | undefined): Cause | undefined {
  const written = readCause(annotation);
  return written?.digits === firstDigits(hash) ? written.cause : undefined;
}

/**
 * Returns the cause in an annotation, with the digits of its hash; undefined if it is absent or malformed. Anyone who may edit the workload can
 * write it, so its texts are not trusted.
 */
export function readCause(
  annotation: string | undefined,
): { readonly digits: string; readonly cause: Cause } | undefined {
  if (annotation === undefined || annotation.length > maxBytes) return undefined;
  const written = parsed(annotation);
  const at = timeOf(written.at);
  if (typeof written.hash !== "string" || at === undefined || typeof written.why !== "string") return undefined;
  const edits = Array.isArray(written.edits) ? written.edits.slice(0, maxNames).flatMap(editOf) : [];
  const cause = { at, why: written.why.slice(0, maxReason), edits, heldBy: textOf(written.heldBy) };
  return { digits: written.hash, cause };
}

function parsed(annotation: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(annotation));
  } catch {
    return {};
  }
}

function editOf(written: unknown): readonly RolloutEdit[] {
  const { kind, namespace, name, keys, at, by } = fieldsOf(written);
  if (!configKinds.includes(kind as ConfigKind) || typeof name !== "string" || typeof namespace !== "string") return [];
  const named = Array.isArray(keys) ? keys.filter((key) => typeof key === "string").slice(0, maxNames) : [];
  return [{ kind: kind as ConfigKind, namespace, name, keys: named, at: timeOf(at), by: textOf(by) }];
}

function timeOf(value: unknown): number | undefined {
  return typeof value === "string" ? parseTime(value) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns the digits of a hash that an annotation about its rollout repeats. */
export function firstDigits(hash: string): string {
  return digitsOf(hash).slice(0, 16);
}
