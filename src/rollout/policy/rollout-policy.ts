import type { Workload } from "../workload.ts";
import { type PacingFlags, unpaced } from "./pacing-flags.ts";
import type { Policy } from "./policy.ts";
import { noPolicy, type PolicyAnnotation, type PolicyAnnotations } from "./policy-annotations.ts";
import { type Mode, policyRows, type ValueOf } from "./policy-rows.ts";
import { parseWindow, type Window } from "./window.ts";

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
  readonly minIntervalMs: Said<number>;
  /** Whether it waits for others that the same change concerns, and they for it. */
  readonly waves: Said<boolean>;
  /** Those with a higher one go first. */
  readonly priority: Said<number>;
  /** Milliseconds since the epoch. */
  readonly resumedAt: number | undefined;
  /** Names of its own namespace, or of another one as `namespace/name`. */
  readonly excludeConfigMaps: Said<readonly string[]>;
  readonly excludeSecrets: Said<readonly string[]>;
}

/** What holds for a workload under a policy. */
export function rolloutPolicyOf(workload: Pick<Workload, "policy" | "namespace">, policy: Policy): RolloutPolicy {
  const own = workload.policy;
  const shared = policy.ofNamespace?.(workload.namespace)?.annotations ?? noPolicy;
  const flags = policy.pacing ?? unpaced;
  const unreadable: Unreadable[] = [];
  const say = <Name extends PolicyAnnotation, T>(name: Name, otherwise: T): Said<ValueOf<Name> | T> => {
    for (const [by, annotations] of [
      ["workload", own],
      ["namespace", shared],
    ] as const satisfies readonly (readonly [Source, PolicyAnnotations])[]) {
      const text = annotations[name];
      if (text === undefined || text === "") continue;
      const value = readValue(name, text);
      if (value !== undefined) return { value, by };
      if (policyRows[name].holdsUnread) unreadable.push({ annotation: name, by, text });
      break;
    }
    return { value: otherwise, by: "flag" };
  };
  const settle = say("settle", flags.settleMs);
  const window = say("window", windowOf(flags));
  const mode = say("mode", "roll" as const);
  return {
    hold: say("hold", false),
    mode: flags.observe ? { value: "observe", by: "flag" } : mode,
    approved: say("approved", undefined).value,
    window: window.value === undefined ? undefined : { value: window.value, by: window.by },
    settleMs: settle,
    settleMaxMs: settle.by === "flag" ? flags.settleMaxMs : Math.max(flags.settleMaxMs, 10 * settle.value),
    minIntervalMs: say("min-interval", 0),
    waves: say("waves", true),
    priority: say("priority", 0),
    resumedAt: say("resumed", undefined).value,
    excludeConfigMaps: say("exclude-configmaps", []),
    excludeSecrets: say("exclude-secrets", []),
    unreadable,
  };
}

/** The value of an annotation; undefined where it cannot be read. */
export function readValue<Name extends PolicyAnnotation>(name: Name, text: string): ValueOf<Name> | undefined {
  const row = policyRows[name];
  return text.length > row.most ? undefined : (row.parse(text.trim()) as ValueOf<Name> | undefined);
}

function windowOf({ window }: PacingFlags): Window | undefined {
  if (window === undefined) return undefined;
  const parsed = parseWindow(window);
  if (parsed === undefined) throw new Error(`"${window}" is no window`);
  return parsed;
}
