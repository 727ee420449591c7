import type { Warning } from "../references/warning.ts";
import { formatList, quoted } from "../syntax/wording.ts";

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
