// domain/pinning: which ConfigMaps of a workload are pinned, what their copies contain, and how Pods are pointed at them.
// Knows references, views, workloads and policy, no plan. Pure.
import type { Config } from "../config/digest.ts";
import type { ConfigView, ViewEntry } from "../config/hash.ts";
import { trackedReferences } from "../config/tracked-references.ts";
import { type Lookup, missingFrom, viewOfReferences } from "../config/view-of-references.ts";
import { isComplete } from "../model/kind-row.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { Rules } from "../policy/rules.ts";
import type { Reference } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import { formatList, isDnsSubdomain, isListed, quoted } from "../syntax/names.ts";
import { type CopyContent, copyContent, parsePins } from "./pinned-lookup.ts";

/** A ConfigMap that Pods are to read as a pinned copy. */
export interface PinSource {
  readonly namespace: string;
  readonly name: string;
  /** All tracked references to it, also those of annotations. The copy has what they read, so that the hash of the copy is the hash of its source. */
  readonly references: readonly Reference[];
  /** What the hash includes of it: sorted. Empty if it does not exist or has none of the keys. */
  readonly entries: readonly ViewEntry[];
}

/**
 * ConfigMaps that Kubernetes, a service mesh or a certificate tool fills in each namespace and replaces by itself. An old copy of a
 * certificate authority breaks connections.
 */
export const neverPinned: readonly string[] = [
  "kube-root-ca.crt",
  "openshift-service-ca.crt",
  "istio-ca-root-cert",
  "istio-ca-crl",
  "linkerd-identity-trust-roots",
];

/** Reports whether the Pods of a workload read pinned copies: the feature is on, and the workload or its Namespace asks for it. */
export function isPinned(workload: Workload, rules: Rules): boolean {
  return rules.storesCopies && canBePinned(workload) && rules.pinConfig.value;
}

/**
 * Reports whether a workload can be pinned: its hash is in its own pod template, and a change of the template replaces its Pods. The
 * Pods of a CronJob or Job end by themselves, and the next run starts with the live configuration.
 */
export function canBePinned({ strategy }: Pick<Workload, "strategy">): boolean {
  return strategy.name === "template";
}

/**
 * Returns what to pin when the hash of `view` is written; undefined if the workload is not pinned. `lookup` is the one of the plan
 * that made the view.
 */
export function pinSources(
  workload: Workload,
  view: ConfigView,
  lookup: Lookup,
  rules: Rules,
): readonly PinSource[] | undefined {
  if (!isPinned(workload, rules)) return undefined;
  const { references, lookup: granted } = trackedReferences(workload, lookup, rules);
  const canBeRead = readAsCopy(workload, granted, rules);
  const { namespace } = workload;
  const byName = Map.groupBy(
    references.filter((each) => each.kind === "ConfigMap" && each.namespace === namespace),
    ({ name }) => name,
  );
  const sources: PinSource[] = [];
  for (const [name, tracked] of byName) {
    if (tracked.every(({ annotation }) => annotation !== undefined) || !canBeRead(name)) continue;
    const entries = view.entries.filter(
      (entry) => entry.kind === "ConfigMap" && entry.name === name && entry.namespace === namespace,
    );
    sources.push({ namespace, name, references: tracked, entries });
  }
  return sources.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Returns which ConfigMaps, by name, the Pods of a pinned workload read as copies. The plan must use it, too: a hash that includes the
 * content of a copy is wrong if Pods read the live ConfigMap. A name that no object can have needs no copy.
 */
export function readAsCopy(workload: Workload, live: Lookup, rules: Rules): (name: string) => boolean {
  const { namespace } = workload;
  return (name) => {
    if (!isDnsSubdomain(name) || neverPinned.includes(name)) return false;
    if (isListed(rules.liveConfigMaps.value, { namespace, name }, namespace)) return false;
    const config = live("ConfigMap", namespace, name);
    return !config?.isCopy && !config?.isInjected;
  };
}

/**
 * Returns what the copy contains if `config` has exactly what the hash includes, and every key without which Pods cannot start; otherwise
 * undefined. The hash does not include a key that Pods only need to start. The copy of an optional ConfigMap that
 * does not exist (undefined) is empty: for an optional reference, both are the same.
 */
export function contentOf({ references, entries }: PinSource, config: Config | undefined): CopyContent | undefined {
  if (config?.limitExceeded !== undefined) return undefined;
  if (missingFrom(references, () => config).length > 0) return undefined;
  const read = viewOfReferences(references, () => config).entries;
  if (read.length !== entries.length) return undefined;
  const same = read.every(({ key, digest }, i) => entries[i]?.key === key && entries[i]?.digest === digest);
  return same ? copyContent(references, config) : undefined;
}

/** Limit of the previous pins, in characters: with the current pins, they must be within the limit for all annotations of Wave. */
export const maxPreviousLength = 8_192;

/** Reports whether a workload is to return to its previous pins if a rollout fails. */
export function returnsOnFailure(workload: Workload, rules: Rules): boolean {
  return isPinned(workload, rules) && rules.onFailure.value === "return";
}

/** Returns the pins to return to if the last rollout fails: its own pins if it has passed or is a return; undefined if they are unknown, or malformed, or those of another rollout. */
export function pinsBeforeRollout({ previousPins = "", recordedHash }: Workload): string | undefined {
  const [hash, pins = "", ...rest] = previousPins.split(" ");
  return hash === recordedHash && rest.length === 0 && parsePins(pins) !== undefined ? pins : undefined;
}

/**
 * Returns the annotation of previous pins for a rollout by Wave; undefined if there is nothing to return to. Only pins whose rollout was
 * complete are good: if the last rollout was not, or its status does not show it yet, the rollout before it counts, if there was one.
 */
export function previousPinsAfter(workload: Workload, hash: string, rules: Rules): string | undefined {
  if (!returnsOnFailure(workload, rules)) return undefined;
  const { pinned: own } = workload;
  // The status may not show the generation of an annotation yet.
  const good =
    workload.progress.state === "complete"
      ? own
      : (pinsBeforeRollout(workload) ?? (isComplete(workload) ? own : undefined));
  return previousPinsOf(hash, good);
}

/** Returns the annotation by which a workload with this hash returns to these pins; undefined if they are malformed or too long. */
export function previousPinsOf(hash: string | undefined, pinned = ""): string | undefined {
  return pinned.length > maxPreviousLength || parsePins(pinned) === undefined ? undefined : `${hash} ${pinned}`;
}

/** Limit of the names in a text. */
const shownNames = 3;

/** Returns the names of ConfigMaps for a text: `ConfigMap "a"`, `ConfigMaps "a" and "b"`. */
export function formatConfigMaps(names: readonly string[]): string {
  return `${names.length === 1 ? "ConfigMap" : "ConfigMaps"} ${formatList(names, shownNames, quoted)}`;
}

/** The texts about pinned configuration that Events and the warnings of webhooks have. `why` is one clause without a final period. */
export const pinTexts = {
  kept: (names: readonly string[]) =>
    `New Pods read the pinned content of ${formatConfigMaps(names)}: the change is not rolled yet.`,
  keptWithoutKey: (names: readonly string[]) =>
    `New Pods cannot start: the pinned content of ${formatConfigMaps(names)} lacks a required key, and the change is held. End the hold, or remove the key from the pod template.`,
  rolledBack: (names: readonly string[]) =>
    `Rolled back: Pods read the earlier content of ${formatConfigMaps(names)}. Wave does not roll to the live content until it changes, or until you run wave resume.`,
  unusableCopies: (names: readonly string[]) => {
    const copy =
      names.length === 1 ? "Its pinned copy is gone or lacks a key" : "Their pinned copies are gone or lack a key";
    return `New Pods read live configuration of ${formatConfigMaps(names)}. ${copy} that the pod template reads.`;
  },
  undoWithoutPins: "The earlier revision has no pinned configuration. New Pods read the live configuration.",
  cannotReturn: (names: readonly string[]) =>
    `The rollout failed, and the workload cannot return: the pinned copy of the earlier content of ${formatConfigMaps(names)} is gone or lacks a key.`,
  notPinned: (why: string) => `Not pinned: ${why}. New Pods read live configuration.`,
  notPinnedCompletely: (why: string, names: readonly string[]) =>
    `Not pinned completely: ${why}. New Pods read the pinned content of ${formatConfigMaps(names)}, and other configuration live.`,
} as const;

/** Returns the warning about ConfigMaps whose copies stay although the Pods are replaced. */
export function keptPins(names: readonly string[]): Warning {
  return { reason: "PinsKept", message: pinTexts.kept(names) };
}

/** Returns the warning about ConfigMaps whose copies stay although new Pods cannot start with them. */
export function keptWithoutKey(names: readonly string[]): Warning {
  return { reason: "PinsKept", message: pinTexts.keptWithoutKey(names) };
}

/** Returns the warning about ConfigMaps whose live content was rolled back. */
export function rolledBack(names: readonly string[]): Warning {
  return { reason: "RolledBack", message: pinTexts.rolledBack(names) };
}

/** Returns the warning about content that must not be rolled, and whose copies cannot be used. */
export function unusableCopies(names: readonly string[]): Warning {
  return { reason: "Unpinned", message: pinTexts.unusableCopies(names) };
}

/** Warns of an undo to a revision that has no pins. */
export const undoWithoutPins: Warning = { reason: "Unpinned", message: pinTexts.undoWithoutPins };
