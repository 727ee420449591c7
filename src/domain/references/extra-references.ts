import { isDnsLabel, isDnsSubdomain } from "../syntax/dns-name.ts";
import { counted, enumerated, quoted } from "../syntax/wording.ts";
import { extraConfigMaps, extraSecrets } from "./annotations.ts";
import type { ConfigKind, Reference } from "./references.ts";
import type { Warning } from "./warning.ts";

/** The annotations that name objects, as they are written. */
export interface Extras {
  readonly [extraConfigMaps]: string | undefined;
  readonly [extraSecrets]: string | undefined;
}

/** A workload without them, which is nearly every one. */
export const noExtras: Extras = { [extraConfigMaps]: undefined, [extraSecrets]: undefined };

/** Those of a workload. */
export function extrasOf({
  [extraConfigMaps]: configMaps,
  [extraSecrets]: secrets,
}: Readonly<Record<string, string>>): Extras {
  if (configMaps === undefined && secrets === undefined) return noExtras;
  return { [extraConfigMaps]: configMaps, [extraSecrets]: secrets };
}

const sources: readonly { readonly kind: ConfigKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: extraConfigMaps },
  { kind: "Secret", annotation: extraSecrets },
];

/** How many of the entries that are no names a message shows. */
const shownEntries = 2;

/**
 * The objects that the annotations `extra-configmaps` and `extra-secrets` name: comma-separated `name` or
 * `namespace/name`. They are required, with all their keys. The entries of an annotation that are no such names become
 * one mistake.
 */
export function extraReferences(
  annotations: Readonly<Record<string, string>>,
  namespace: string,
): { readonly references: readonly Reference[]; readonly mistakes: readonly Warning[] } {
  const references: Reference[] = [];
  const mistakes: Warning[] = [];
  for (const { kind, annotation } of sources) {
    const path = `metadata.annotations[${annotation}]`;
    const noNames: string[] = [];
    for (const entry of entriesOf(annotations[annotation])) {
      const name = parseEntry(entry, namespace);
      if (name === undefined) noNames.push(entry);
      else references.push({ kind, ...name, reads: "files", keys: "all", optional: false, path });
    }
    if (noNames.length > 0) mistakes.push(mistake(annotation, noNames));
  }
  return { references, mistakes };
}

function entriesOf(annotation = ""): readonly string[] {
  return annotation
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function parseEntry(entry: string, own: string): { readonly namespace: string; readonly name: string } | undefined {
  const slash = entry.indexOf("/");
  const namespace = slash === -1 ? own : entry.slice(0, slash);
  const name = entry.slice(slash + 1);
  const valid = (slash === -1 || isDnsLabel(namespace)) && isDnsSubdomain(name);
  return valid ? { namespace, name } : undefined;
}

function mistake(annotation: string, entries: readonly string[]): Warning {
  const which = entries.length === 1 ? "1 entry" : `${counted(entries.length)} entries`;
  const are = entries.length === 1 ? "is no name" : "are no names";
  const shown = enumerated(entries, shownEntries, quoted);
  return {
    reason: "InvalidAnnotation",
    message: `${which} of ${annotation} ${are}: ${shown}; write name or namespace/name, separated by commas`,
  };
}
