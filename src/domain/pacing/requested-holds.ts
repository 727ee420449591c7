import { describeObject } from "../config/messages.ts";
import type { Hold } from "../decision/hold.ts";
import type { Asks } from "../policy/config-directive.ts";
import { policyRows } from "../policy/policy-rows.ts";
import type { Source, Unreadable } from "../policy/rollout-policy.ts";
import { annotationPrefix } from "../references/annotations.ts";
import type { ConfigName } from "../references/references.ts";
import { closesAt, isOpen, opensAt } from "../syntax/calendar.ts";
import { enumerated, quoted } from "../syntax/wording.ts";
import { changedObjects, type Due } from "./due.ts";

/** How many annotations that cannot be read, or objects that are held, a message shows. */
const shown = 3;

/** Only told, by `mode: observe` or `--observe`. */
export function observed({ policy: { mode } }: Due): Hold | undefined {
  if (mode.value !== "observe") return undefined;
  return told("observed", `it is only observed, by ${mode.by === "flag" ? "--observe" : named("mode", mode.by)}`);
}

/** An annotation that says when to roll cannot be read: whoever wrote it did not want a roll at any time. */
export function invalid(due: Due): Hold | undefined {
  const { unreadable } = due.policy;
  const unclear = unreadable.length > 0 ? [] : heldObjects(due, "unclear");
  if (unreadable.length === 0 && unclear.length === 0) return undefined;
  const what =
    unreadable.length > 0
      ? enumerated(unreadable, shown, describeUnreadable)
      : `hold or ignore of ${described(due, unclear)} is neither "true" nor "false"`;
  return {
    reason: "invalid",
    message: `it waits until it is clear when to roll: ${what}`,
    until: undefined,
    warning: true,
  };
}

/** `hold: "true"` on the workload, its Namespace, or on all objects that changed. */
export function hold(due: Due): Hold | undefined {
  const { value, by } = due.policy.hold;
  if (value) return told("hold", `it is held by ${named("hold", by)}, until that is removed`);
  const objects = heldObjects(due, "hold");
  if (objects.length === 0) return undefined;
  return told(
    "hold",
    `it is held by annotation ${annotationPrefix}hold of ${described(due, objects)}, until that is removed`,
  );
}

/**
 * `mode: approve`, and this hash is not approved. What is approved and was rolled is spent: who may edit what is read could
 * make up another configuration whose hash begins with the same few digits.
 */
export function approval({ workload, policy: { mode, approved }, decision }: Due): Hold | undefined {
  if (mode.value !== "approve" || !("hash" in decision)) return undefined;
  const digits = digitsOf(decision.hash);
  const spent = approved !== undefined && digitsOf(workload.recordedHash ?? "").startsWith(approved);
  if (approved !== undefined && digits.startsWith(approved) && !spent) return undefined;
  const asked = `it waits for approval: annotation ${annotationPrefix}approved: "${digits.slice(0, 8)}"`;
  return told("approval", approved === undefined ? asked : `${asked}; what is approved is ${quoted(approved)}`);
}

/** Outside of its window. */
export function window({ policy, moment: { now } }: Due): Hold | undefined {
  if (policy.window === undefined || isOpen(policy.window.value, now)) return undefined;
  const { value, by } = policy.window;
  const until = opensAt(value, now);
  const opens = new Date(until).toISOString().replace(".000Z", "Z");
  const which = by === "flag" ? "--window" : named("window", by);
  const message = `it is outside of ${which} (${quoted(value.text)}), which opens at ${opens}`;
  return { ...told("window", message), until };
}

/** When the window that it is in closes; nothing where there is none. */
export function closing({ policy, moment: { now } }: Due): Pick<Hold, "closesAt"> {
  if (policy.window === undefined || !isOpen(policy.window.value, now)) return {};
  return { closesAt: closesAt(policy.window.value, now) };
}

/**
 * The objects that it would be rolled for, if each of them asks for no rolls and at least one does so in this way. What
 * somebody holds blocks nothing that another object's change asks for.
 */
function heldObjects(due: Due, how: Asks): readonly ConfigName[] {
  const asked = changedObjects(due).map((object) => {
    const { kind, namespace, name } = object;
    return { object, asks: due.lookup(kind, namespace, name)?.asks };
  });
  if (!asked.every(({ asks }) => asks === "hold" || asks === "unclear")) return [];
  return asked.filter(({ asks }) => asks === how).map(({ object }) => object);
}

/** Those of a hash, without what says how it was made. */
function digitsOf(hash: string): string {
  return hash.slice(hash.indexOf(":") + 1);
}

function told(reason: Hold["reason"], message: string): Hold {
  return { reason, message, until: undefined, warning: false };
}

function describeUnreadable({ annotation, by, text }: Unreadable): string {
  return `${named(annotation, by)} is ${quoted(text)}, not ${policyRows[annotation].allowed}`;
}

function described({ workload }: Due, objects: readonly ConfigName[]): string {
  return enumerated(objects, shown, (object) => describeObject(object, workload.namespace));
}

/** An annotation, and where it stands if that is not the workload itself. */
function named(annotation: string, by: Source): string {
  return `annotation ${annotationPrefix}${annotation}${by === "namespace" ? " of its Namespace" : ""}`;
}
