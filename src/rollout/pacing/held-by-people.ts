import { annotationPrefix } from "../annotations.ts";
import { isOpen, opensAt } from "../policy/calendar.ts";
import { policyRows } from "../policy/policy-rows.ts";
import type { RolloutPolicy, Source, Unreadable } from "../policy/rollout-policy.ts";
import { enumerated, quoted } from "../wording.ts";
import type { Hold } from "./hold.ts";

/** How many annotations that cannot be read a message shows. */
const shownUnreadable = 3;

/** What annotations hold that nobody can read. */
export function unreadableHold({ unreadable }: RolloutPolicy): Hold | undefined {
  if (unreadable.length === 0) return undefined;
  const shown = enumerated(unreadable, shownUnreadable, describeUnreadable);
  return {
    reason: "invalid",
    message: `is not rolled before it is clear when: ${shown}`,
    until: undefined,
    warning: true,
  };
}

function describeUnreadable({ annotation, by, text }: Unreadable): string {
  const { allowed } = policyRows[annotation];
  return `${namedBy(annotation, by)} is ${quoted(text)}, not ${allowed}`;
}

/** Where nothing is to be written at all. */
export function observedHold({ mode }: RolloutPolicy): Hold | undefined {
  if (mode.value !== "observe") return undefined;
  const by = mode.by === "flag" ? "--observe" : `"observe" in ${namedBy("mode", mode.by)}`;
  return { reason: "observed", message: `is only observed, by ${by}`, until: undefined, warning: false };
}

/** What a person holds until they release it. */
export function heldByPerson({ hold }: RolloutPolicy): Hold | undefined {
  if (!hold.value) return undefined;
  const message = `is held by ${namedBy("hold", hold.by)}, until that is removed`;
  return { reason: "hold", message, until: undefined, warning: false };
}

/** What is not to be rolled before a person approves this very configuration. */
export function approvalHold({ mode, approved }: RolloutPolicy, hash: string): Hold | undefined {
  if (mode.value !== "approve") return undefined;
  const digits = hash.slice(hash.indexOf(":") + 1);
  if (approved !== undefined && digits.startsWith(approved)) return undefined;
  const asked = `waits for approval: ${annotationPrefix}approved: "${digits.slice(0, 8)}"`;
  const message = approved === undefined ? asked : `${asked}, not ${quoted(approved)}`;
  return { reason: "approval", message, until: undefined, warning: false };
}

/** What may be rolled only while its window is open. */
export function windowHold({ window }: RolloutPolicy, now: number): Hold | undefined {
  if (window === undefined || isOpen(window.value, now)) return undefined;
  const until = opensAt(window.value, now);
  const which = window.by === "flag" ? "--window" : namedBy("window", window.by);
  const opens = new Date(until).toISOString().replace(".000Z", "Z");
  return { reason: "window", message: `is outside of ${which}, which opens at ${opens}`, until, warning: false };
}

/** An annotation, and where it stands if that is not the workload itself. */
function namedBy(annotation: string, by: Source): string {
  return `annotation ${annotationPrefix}${annotation}${by === "namespace" ? " of its Namespace" : ""}`;
}
