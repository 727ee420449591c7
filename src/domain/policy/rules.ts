import type { MatchedNames, OptIn, PatternReference } from "../compatibility/directive.ts";
import { type Names, noNames } from "../syntax/names.ts";
import { parseWindow, type Window } from "../syntax/window.ts";
import type { NamespacePolicy, PacingFlags, Policy } from "./policy.ts";
import {
  noPolicy,
  type PolicyAnnotation,
  type PolicyAnnotations,
  type PolicyValue,
  policyRows,
  type RolloutMode,
  readPolicyValue,
} from "./policy-rows.ts";

/** The source of a value: an annotation of the workload, an annotation of its Namespace, or the flags (the default). */
export type DecidedBy = "workload" | "namespace" | "flag";

/** A value with its source. */
interface Decided<T> {
  readonly value: T;
  readonly by: DecidedBy;
}

/** A policy annotation with an invalid value. */
export interface InvalidPolicyAnnotation {
  readonly annotation: PolicyAnnotation;
  readonly by: "workload" | "namespace";
  readonly text: string;
}

/** What decides about one workload at one moment. Precedence: workload annotation, then Namespace annotation, then flag. */
export interface Rules
  extends Pick<
    Policy,
    "crossNamespace" | "namespaces" | "compatibility" | "ownership" | "clusterHold" | "hashKeys" | "isStopping"
  > {
  /** What the Namespace of the workload decides; undefined: nothing, or the Namespace is not known. */
  readonly namespacePolicy: NamespacePolicy | undefined;
  /** The names that the regular expressions of the workload match; undefined: it has none, or the names are not known. */
  readonly matchedNames: MatchedNames | undefined;
  readonly pacing: PacingFlags;
  /** Whether Wave stores pinned copies at all. */
  readonly storesCopies: boolean;
  /** The invalid annotations that hold the workload. Contains only annotations that would take precedence. */
  readonly invalid: readonly InvalidPolicyAnnotation[];
  readonly hold: Decided<boolean>;
  /** Who holds, and why; "" if nobody wrote it. It is about the hold only if both have the same source. */
  readonly holdReason: Decided<string>;
  readonly mode: Decided<RolloutMode>;
  /** The first digits of the approved hash, lower case, at least 8. */
  readonly approved: string | undefined;
  /** Undefined: at any time. */
  readonly window: Decided<Window> | undefined;
  readonly settleMs: Decided<number>;
  /** Minimum time between rollouts, in milliseconds: the longer one if another compatibility also sets one. */
  readonly minIntervalMs: Decided<number>;
  /** Whether the workload and the other workloads of the same change wait for each other. */
  readonly batches: Decided<boolean>;
  /** Whether a change waits for a validator that cannot check it. */
  readonly validatorRequired: boolean;
  /** Whether new Pods stay pending while a required object is missing. An annotation cannot turn on what the flag turns off. */
  readonly schedulingHold: boolean;
  /** Workloads with a higher priority roll first. */
  readonly priority: Decided<number>;
  /** Failures before this time are ignored, in milliseconds since the epoch. */
  readonly resumedAt: number | undefined;
  /** When a person requested a rollout, in milliseconds since the epoch, and the name of that person; "" if it is unknown. */
  readonly rollRequest: PolicyValue<"roll-requested"> | undefined;
  /** How to treat the workload when Wave has not seen it before; undefined: as its compatibility requires. */
  readonly firstSight: PolicyValue<"first-sight"> | undefined;
  readonly excludeConfigMaps: Decided<Names>;
  readonly excludeSecrets: Decided<Names>;
  /** Whether the Pods of a revision read pinned copies of their ConfigMaps. */
  readonly pinConfig: Decided<boolean>;
  /** What follows a failed rollout: its Pods stay, or the workload returns to the pins before it. */
  readonly onFailure: Decided<"halt" | "return">;
  /** The ConfigMaps that Pods read live although the workload is pinned. */
  readonly liveConfigMaps: Decided<Names>;
}

/** The part of a workload that decides its rules. */
interface RuledWorkload {
  readonly namespace: string;
  readonly policy: PolicyAnnotations;
  readonly peer?:
    | { readonly minIntervalMs?: number | undefined; readonly patterns?: readonly PatternReference[] }
    | undefined;
}

/**
 * Returns what decides about one workload now, so that one plan uses one state of the cluster. The result is valid until the
 * next event of a cache: it shares the matched names with the cache. The cost does not depend on the number of workloads. Throws
 * an Error if the flag `window` is invalid.
 */
export function rulesFor({ namespace, policy: own, peer }: RuledWorkload, policy: Policy): Rules {
  const { pacing } = policy;
  const namespacePolicy = policy.namespacePolicyOf?.(namespace);
  const shared = namespacePolicy?.annotations ?? noPolicy;
  const invalid: InvalidPolicyAnnotation[] = [];
  const decide = <Name extends PolicyAnnotation, T>(annotation: Name, fallback: T): Decided<PolicyValue<Name> | T> => {
    const by = isSet(own[annotation]) ? "workload" : "namespace";
    const text = by === "workload" ? own[annotation] : shared[annotation];
    if (!isSet(text) || !policyRows[annotation].places.includes(by)) return { value: fallback, by: "flag" };
    const value = readPolicyValue(annotation, text);
    if (value !== undefined) return { value, by };
    if (policyRows[annotation].holdsIfInvalid) invalid.push({ annotation, by, text });
    return { value: fallback, by: "flag" };
  };
  const hold = decide("hold", false);
  const mode = decide("mode", "roll" as const);
  const approved = decide("approved", undefined).value;
  const window = decide("window", windowOf(pacing));
  const settle = decide("settle", pacing.settleMs);
  const minInterval = decide("min-interval", 0);
  const peerMs = peer?.minIntervalMs ?? 0;
  return {
    crossNamespace: policy.crossNamespace,
    namespaces: policy.namespaces,
    compatibility: policy.compatibility,
    ownership: policy.ownership,
    clusterHold: policy.clusterHold,
    hashKeys: policy.hashKeys,
    isStopping: policy.isStopping,
    namespacePolicy,
    matchedNames: peer?.patterns?.length ? policy.namesMatching?.(namespace, peer.patterns) : undefined,
    pacing,
    storesCopies: policy.pinConfig === true,
    hold,
    holdReason: decide("hold-reason", ""),
    mode: pacing.observe ? { value: "observe", by: "flag" } : mode,
    approved,
    window: window.value === undefined ? undefined : { value: window.value, by: window.by },
    settleMs: settle,
    minIntervalMs: minInterval.value < peerMs ? { value: peerMs, by: "workload" } : minInterval,
    batches: decide("batches", true),
    validatorRequired: decide("validator-required", false).value,
    schedulingHold: decide("scheduling-hold", true).value && policy.schedulingHold,
    priority: decide("priority", 0),
    resumedAt: decide("resumed", undefined).value,
    rollRequest: decide("roll-requested", undefined).value,
    firstSight: decide("first-sight", policy.firstSight).value,
    excludeConfigMaps: decide("exclude-configmaps", noNames),
    excludeSecrets: decide("exclude-secrets", noNames),
    pinConfig: decide("pin-config", false),
    onFailure: decide("on-failure", "halt" as const),
    liveConfigMaps: decide("live-configmaps", noNames),
    invalid,
  };
}

/** Reports whether an annotation is set. Templates write an empty annotation for an unset value, so empty is not set. */
function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}

function windowOf({ window }: PacingFlags): Window | undefined {
  if (window === undefined) return undefined;
  const parsed = parseWindow(window);
  if (parsed === undefined) throw new Error(`"${window}" is not a window`);
  return parsed;
}

/**
 * Returns why Wave rolls nothing in a namespace, as text after "is in"; undefined if Wave may roll workloads there. A Namespace that
 * is not known yet is treated as not selected. Wave plans its workloads again when its labels are known.
 */
export function ignoredReason(namespace: string, { compatibility, namespacePolicy }: Rules): string | undefined {
  const filters = compatibility?.filters;
  if (filters === undefined) return undefined;
  if (filters.ignoredNamespaces.includes(namespace))
    return `namespace "${namespace}", which --namespaces-to-ignore names`;
  if (filters.namespaces === undefined) return undefined;
  const selected = namespacePolicy !== undefined && !namespacePolicy.unselected;
  return selected ? undefined : `namespace "${namespace}", which --namespace-selector does not select`;
}

/**
 * Reports whether a workload is opted in now. The Namespace may have changed since the workload was read, so the function checks the
 * Namespace again.
 */
export function isOptedIn(
  { optIn, namespace }: { readonly optIn: OptIn; readonly namespace: string },
  rules: Rules,
): boolean {
  if (optIn.state !== "in" || ignoredReason(namespace, rules) !== undefined) return false;
  return optIn.by !== "namespace" || rules.namespacePolicy?.optsIn === true;
}

/**
 * Reports whether a workload is a validator. Pods of other kinds than Deployments may keep data, or be replaced one by one. The annotation has
 * no effect on a Namespace, so the workload is sufficient.
 */
export function isValidator({ kind, policy }: { readonly kind: string; readonly policy: PolicyAnnotations }): boolean {
  const { validator } = policy;
  return validator !== undefined && kind === "Deployment" && readPolicyValue("validator", validator) === true;
}
