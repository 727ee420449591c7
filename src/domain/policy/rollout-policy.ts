import { type Names, noNames } from "../syntax/name-list.ts";
import { parseWindow, type Window } from "../syntax/window.ts";
import { type PacingFlags, unpaced } from "./pacing-flags.ts";
import type { Policy } from "./policy.ts";
import { noPolicy, type PolicyAnnotation, type PolicyAnnotations } from "./policy-annotations.ts";
import { type Mode, policyRows, readValue, type ValueOf } from "./policy-rows.ts";

/** Who decided something: an annotation of the workload or of its Namespace, or the flags, which are the default of all. */
export type Source = "workload" | "namespace" | "flag";

/** A value and who decided it. */
export interface Said<T> {
  readonly value: T;
  readonly by: Source;
}

/** An annotation whose value cannot be read. */
export interface Unreadable {
  readonly annotation: PolicyAnnotation;
  readonly by: "workload" | "namespace";
  readonly text: string;
}

/** When one workload is to be rolled: its own annotations, else those of its Namespace, else the flags. */
export interface RolloutPolicy {
  /** What cannot be read, and so holds the workload; those alone that would count. */
  readonly unreadable: readonly Unreadable[];
  readonly hold: Said<boolean>;
  readonly mode: Said<Mode>;
  /** The first digits of the hash that is approved, lower case, at least 8. */
  readonly approved: string | undefined;
  /** Undefined: at any time. */
  readonly window: Said<Window> | undefined;
  readonly settleMs: Said<number>;
  /** How long after the first change it rolls at the latest: ten times a `settle` of its own, or the flag where that is longer. */
  readonly settleMaxMs: number;
  /** The longer one, where another dialect asks for one, too. */
  readonly minIntervalMs: Said<number>;
  /** Whether it waits for others that the same change concerns, and they for it. */
  readonly batches: Said<boolean>;
  /** Those with a higher one go first. */
  readonly priority: Said<number>;
  /** Milliseconds since the epoch. */
  readonly resumedAt: number | undefined;
  /** Undefined where it does not say so. */
  readonly firstSight: ValueOf<"first-sight"> | undefined;
  readonly excludeConfigMaps: Said<Names>;
  readonly excludeSecrets: Said<Names>;
}

/** What of a workload decides its policy. */
interface PacedWorkload {
  readonly namespace: string;
  readonly policy: PolicyAnnotations;
  readonly foreign?: { readonly minIntervalMs?: number | undefined } | undefined;
}

/** What holds for a workload under a policy. */
export function rolloutPolicyOf(workload: PacedWorkload, policy: Policy): RolloutPolicy {
  const own = workload.policy;
  const shared = policy.ofNamespace?.(workload.namespace)?.annotations ?? noPolicy;
  const flags = policy.pacing ?? unpaced;
  const unreadable: Unreadable[] = [];
  const say = <Name extends PolicyAnnotation, T>(annotation: Name, otherwise: T): Said<ValueOf<Name> | T> => {
    const by = isSaid(own[annotation]) ? "workload" : "namespace";
    const text = by === "workload" ? own[annotation] : shared[annotation];
    if (!isSaid(text) || !policyRows[annotation].places.includes(by)) return { value: otherwise, by: "flag" };
    const value = readValue(annotation, text);
    if (value !== undefined) return { value, by };
    if (policyRows[annotation].holdsUnread) unreadable.push({ annotation, by, text });
    return { value: otherwise, by: "flag" };
  };
  const hold = say("hold", false);
  const mode = say("mode", "roll" as const);
  const approved = say("approved", undefined).value;
  const window = say("window", windowOf(flags));
  const settle = say("settle", flags.settleMs);
  const minInterval = say("min-interval", 0);
  const foreignMs = workload.foreign?.minIntervalMs ?? 0;
  return {
    hold,
    mode: flags.observe ? { value: "observe", by: "flag" } : mode,
    approved,
    window: window.value === undefined ? undefined : { value: window.value, by: window.by },
    settleMs: settle,
    settleMaxMs: settle.by === "flag" ? flags.settleMaxMs : Math.max(flags.settleMaxMs, 10 * settle.value),
    minIntervalMs: minInterval.value < foreignMs ? { value: foreignMs, by: "workload" } : minInterval,
    batches: say("batches", true),
    priority: say("priority", 0),
    resumedAt: say("resumed", undefined).value,
    firstSight: say("first-sight", undefined).value,
    excludeConfigMaps: say("exclude-configmaps", noNames),
    excludeSecrets: say("exclude-secrets", noNames),
    unreadable,
  };
}

/** An empty annotation says nothing, as a template writes it whose value is not set. */
function isSaid(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}

function windowOf({ window }: PacingFlags): Window | undefined {
  if (window === undefined) return undefined;
  const parsed = parseWindow(window);
  if (parsed === undefined) throw new Error(`"${window}" is no window`);
  return parsed;
}
