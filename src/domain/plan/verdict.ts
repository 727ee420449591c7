// The verdict of the leader on a workload, in an annotation: for people who may not read what the workload reads, and for other tools.

import { hash } from "node:crypto";
import type { RolloutPlan } from "../outcomes/outcomes.ts";
import { holdRows } from "../pacing/holds.ts";
import type { RolloutResult } from "../pacing/rollout-result.ts";
import { type ConfigName, configKey, parseConfigKey } from "../references/references.ts";
import { fieldsOf, textOf } from "../syntax/json.ts";
import { formatTime, parseTime } from "../syntax/time.ts";

/** The state of a workload that is not current, as `wave list` names it. Never contains a key or a value. */
export interface Verdict {
  readonly state: string;
  /** The cause as one word, of a hold its reason; "" if the state needs none. */
  readonly reason: string;
  /** When the state ends by itself, in milliseconds since the epoch; undefined if that is unknown. */
  readonly until: number | undefined;
  /** The first object in question. */
  readonly object: ConfigName | undefined;
}

/** A verdict with the start of its state, in milliseconds since the epoch. */
export interface PublishedVerdict extends Verdict {
  readonly since: number;
}

/**
 * Returns the verdict on a workload; undefined if it is current, or if Wave ignores it. `rollout` is the result of its last rollout by Wave, and
 * `isRolledBack` reports whether the content of a ConfigMap was rolled back.
 */
export function verdictOf(
  plan: RolloutPlan,
  rollout: RolloutResult | undefined,
  isRolledBack: boolean,
): Verdict | undefined {
  const none = { reason: "", until: undefined, object: undefined };
  switch (plan.outcome) {
    case "held": {
      const { reason, until, object = plan.due.outcome === "roll" ? plan.due.changed?.[0] : undefined } = plan.hold;
      return { state: "held", reason, until, object };
    }
    case "waiting":
      return { ...none, state: "waiting", reason: "missing", object: plan.missing[0] };
    case "overLimit":
      return { ...none, state: "overLimit", reason: "limit" };
    case "current":
      if (rollout?.state === "failed" || rollout?.state === "stuck")
        return { ...none, state: rollout.state, reason: rollout.word };
      if (rollout?.state === "inProgress") return { ...none, state: "rolling" };
      if (plan.unproven !== undefined) return { ...none, state: "unproven" };
      return isRolledBack ? { ...none, state: "rolledBack" } : undefined;
    default:
      return undefined;
  }
}

/** Returns what must differ between two verdicts for another write: waits follow each other, and the end of a hold may move. */
export function verdictId({ state, reason, object }: Verdict): string {
  const isWait = Object.entries(holdRows).some(([name, { isShort }]) => isShort && name === reason);
  return isWait ? state : [state, reason, object === undefined ? "" : configKey(object)].join(" ");
}

/** Returns the text of the annotation. */
export function writeVerdict({ state, reason, since, until, object }: PublishedVerdict): string {
  return JSON.stringify({
    state,
    reason: reason || undefined,
    since: formatTime(since),
    until: until === undefined ? undefined : formatTime(until),
    object: object && configKey(object),
  });
}

/** In characters. A verdict of Wave is shorter. */
const maxLength = 1_024;

/**
 * Returns the verdict in an annotation; undefined if it is absent or malformed. Anyone who may edit the workload can write it, so every part is
 * a word, a time or a name.
 */
export function parseVerdict(annotation: string | undefined): PublishedVerdict | undefined {
  if (annotation === undefined || annotation.length > maxLength) return undefined;
  try {
    const { state, reason, since, until, object } = fieldsOf(JSON.parse(annotation));
    const start = parseTime(textOf(since));
    if (!isWord(state) || start === undefined) return undefined;
    const name = textOf(object);
    const named = /^\w+\/[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/.test(name) ? parseConfigKey(name) : undefined;
    return {
      state,
      reason: isWord(reason) ? reason : "",
      since: start,
      until: parseTime(textOf(until)),
      object: named,
    };
  } catch {
    return undefined;
  }
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z]{1,40}$/.test(value);
}

/** The annotation of the Lease. The leader writes it when it renews the Lease, so it costs no write. */
export const judgedAnnotation = "wave.pusher.com/judged";

/** Up to when every earlier change is judged and published, in milliseconds since the epoch; undefined: unknown, or Wave does not watch it. */
export interface Judged {
  readonly upTo: number | undefined;
  /** Namespaces for which another time applies. */
  readonly except: ReadonlyMap<string, number | undefined>;
}

/** Returns the text of the annotation. Who may read the Lease may not know all namespaces, so it has digests of their names. */
export function writeJudged({ upTo, except }: Judged): string {
  const text = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  return JSON.stringify({
    upTo: text(upTo),
    except: Object.fromEntries([...except].map(([namespace, at]) => [digestOf(namespace), text(at)])),
  });
}

/** Returns up to when a namespace is judged, from the annotation; undefined if that is unknown. */
export function judgedUpTo(annotation: string | undefined, namespace: string): number | undefined {
  try {
    const { upTo, except } = fieldsOf(JSON.parse(annotation ?? "{}"));
    const own = fieldsOf(except)[digestOf(namespace)];
    return parseTime(textOf(own === undefined ? upTo : own));
  } catch {
    return undefined;
  }
}

function digestOf(namespace: string): string {
  return hash("sha256", namespace, "hex").slice(0, 10);
}
