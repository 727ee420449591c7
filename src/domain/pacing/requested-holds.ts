import { describeObject, findConfig } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { Hold } from "../outcomes/outcomes.ts";
import { hasOutgrownPins } from "../pinning/pinned-lookup.ts";
import type { ConfigDirective } from "../policy/annotation-mistakes.ts";
import { policyRows, readPolicyValue } from "../policy/policy-rows.ts";
import type { InvalidPolicyAnnotation, Rules } from "../policy/rules.ts";
import type { ConfigName } from "../references/references.ts";
import { formatList, quoted } from "../syntax/names.ts";
import { closesAt, isOpen, localTime, opensAt } from "../syntax/window.ts";
import type { DueWrite } from "./due.ts";
import { describeAnnotation, holdTexts } from "./hold-texts.ts";
import { lastRolloutAt, requestsAheadMs } from "./rollout-time.ts";

/** How many annotations or objects a message names. */
const shown = 3;

/** The directives of an object whose changes cause no rollout. */
const preventing: ReadonlySet<ConfigDirective | undefined> = new Set(["hold", "unclear"]);

/** Holds every write in `mode: observe` or with `--observe`. */
export function observed({ rules: { mode } }: DueWrite): Hold | undefined {
  return mode.value === "observe" ? heldBy("observed", holdTexts.observed(mode.by)) : undefined;
}

/** Holds every rollout while the Namespace of Wave has the annotation `hold-cluster`. */
export function clusterHeld({ rules: { clusterHold } }: DueWrite): Hold | undefined {
  return clusterHold && heldBy("clusterHold", holdTexts.clusterHold(clusterHold));
}

/** Holds a rollout if a pacing annotation is invalid: its author did not want rollouts at any time. */
export function invalid(due: DueWrite): Hold | undefined {
  const { invalid } = due.rules;
  const unclear = invalid.length > 0 ? [] : heldObjects(due, "unclear");
  if (invalid.length === 0 && unclear.length === 0) return undefined;
  const problems =
    invalid.length > 0
      ? formatList(invalid, shown, describeInvalid)
      : `annotation hold or ignore on ${describeObjects(due, unclear)} is neither "true" nor "false"`;
  return { reason: "invalid", message: holdTexts.invalid(problems), until: undefined, warning: true };
}

/** Holds a rollout with `hold: "true"` on the workload, its Namespace, or all changed objects. */
export function hold(due: DueWrite): Hold | undefined {
  const { workload, rules } = due;
  const { value, by } = rules.hold;
  const why = rules.holdReason.by === by ? rules.holdReason.value : "";
  if (value && by === "namespace") return heldBy("hold", holdTexts.holdOnNamespace(workload, why));
  if (value) return heldBy("hold", holdTexts.holdOnWorkload(workload, why));
  const objects = heldObjects(due, "hold");
  if (objects.length === 0) return undefined;
  const reasons = new Set(objects.flatMap((object) => findConfig(due.lookup, object)?.holdReason ?? []));
  return heldBy(
    "hold",
    holdTexts.holdOnObjects(describeObjects(due, objects), objects, [...reasons].slice(0, shown).join(", ")),
  );
}

/**
 * Holds a rollout in `mode: approve` if its hash is not approved. An approval is used up when its hash is rolled: otherwise a
 * person who may edit the configuration could construct another one whose hash begins with the same digits.
 */
export function approval({ workload, rules: { mode, approved }, decision }: DueWrite): Hold | undefined {
  if (mode.value !== "approve" || !("hash" in decision)) return undefined;
  if (isApproved(workload, { approved }, decision.hash)) return undefined;
  return heldBy("approval", holdTexts.approval(workload, digitsOf(decision.hash).slice(0, 8), approved));
}

/** Reports whether a hash is approved, and the approval is not used up. */
export function isApproved(
  { recordedHash = "" }: Pick<Workload, "recordedHash">,
  { approved }: Pick<Rules, "approved">,
  hash: string,
): boolean {
  if (approved === undefined || !digitsOf(hash).startsWith(approved)) return false;
  return !digitsOf(recordedHash).startsWith(approved);
}

/** Holds a rollout outside its window. */
export function window({ rules, moment: { now } }: DueWrite): Hold | undefined {
  if (rules.window === undefined || isOpen(rules.window.value, now)) return undefined;
  const { value, by } = rules.window;
  const until = opensAt(value, now);
  const local = localTime(value, until);
  const opens = `${new Date(until).toISOString().replace(".000Z", "Z")}${local === undefined ? "" : ` (${local})`}`;
  return { ...heldBy("window", holdTexts.window(by, value.text, opens)), until };
}

/** Returns when the open window closes; nothing without a window. */
export function closing({ rules, moment: { now } }: DueWrite): Pick<Hold, "closesAt"> {
  if (rules.window === undefined || !isOpen(rules.window.value, now)) return {};
  return { closesAt: closesAt(rules.window.value, now) };
}

/**
 * Returns the changed objects with this directive, if every changed object prevents rollouts. An object on hold does not
 * prevent a rollout that the change of another object requires.
 */
function heldObjects({ changed, lookup }: DueWrite, directive: ConfigDirective): readonly ConfigName[] {
  const directiveOf = (object: ConfigName) => findConfig(lookup, object)?.directive;
  return changed.every((object) => preventing.has(directiveOf(object)))
    ? changed.filter((object) => directiveOf(object) === directive)
    : [];
}

/** Returns the digits of a hash without its prefix. */
export function digitsOf(hash: string): string {
  return hash.slice(hash.indexOf(":") + 1);
}

function heldBy(reason: Hold["reason"], message: string): Hold {
  return { reason, message, until: undefined, warning: false };
}

function describeInvalid({ annotation, by, text }: InvalidPolicyAnnotation): string {
  return `${describeAnnotation(annotation, by)} is ${quoted(text)}, not ${policyRows[annotation].allowed}`;
}

function describeObjects({ workload }: DueWrite, objects: readonly ConfigName[]): string {
  return formatList(objects, shown, (object) => describeObject(object, workload.namespace));
}

/** How long a request applies, in milliseconds. A request that another hold outlives must not surprise anyone a day later. */
const validMs = 600_000;

/**
 * Reports whether a person requested this rollout, so that it does not wait. The next rollout uses the request up. Times of
 * the API are whole seconds: a rollout in the second of the request may be its result.
 */
export function isRollRequested({
  workload,
  rules: { rollRequest },
  moment,
}: Pick<DueWrite, "workload" | "rules" | "moment">): boolean {
  if (rollRequest === undefined) return false;
  const { at } = rollRequest;
  if (at > moment.now + requestsAheadMs || moment.now >= at + validMs) return false;
  return at > (lastRolloutAt(workload, moment) ?? 0);
}

/**
 * Returns when a `wave resume` or `wave roll` takes effect whose time is too far ahead of this clock, in milliseconds since the epoch: the
 * earlier one. Undefined if there is none.
 */
export function nextRequestAt({ policy }: Pick<Workload, "policy">, now: number): number | undefined {
  const { resumed = "", "roll-requested": requested = "" } = policy;
  const times = [readPolicyValue("resumed", resumed), readPolicyValue("roll-requested", requested)?.at];
  const later = times.flatMap((at = 0) => (at > now + requestsAheadMs ? [at - requestsAheadMs] : []));
  return later.length === 0 ? undefined : Math.min(...later);
}

/** Reports whether a rollout does not wait: a person requested it, or the Pods are being replaced and lack keys that they read. */
export function skipsWaits(due: DueWrite): boolean {
  return isRollRequested(due) || hasOutgrownPins(due.workload, due.lookup);
}

/** Returns the reason of a rollout, with the name of the person if one requested it. */
export function requestedReason(reason: string, due: DueWrite): string {
  if (!isRollRequested(due)) return reason;
  const { rollRequest } = due.rules;
  const by = rollRequest?.by ?? "";
  return `${reason}; requested ${by === "" ? "with wave roll" : `by ${quoted(by)}`}`;
}
