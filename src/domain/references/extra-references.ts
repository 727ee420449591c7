import { isDnsLabel, isDnsSubdomain, splitList } from "../syntax/names.ts";
import { formatCount, formatList, quoted } from "../syntax/wording.ts";
import { extraConfigMaps, extraSecrets, type WorkloadAnnotations, workloadFirst } from "./annotations.ts";
import { annotationOrigin, type ConfigKind, type Reference } from "./references.ts";
import { invalidAnnotationTexts, type Warning } from "./warning.ts";

const sources: readonly { readonly kind: ConfigKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: extraConfigMaps },
  { kind: "Secret", annotation: extraSecrets },
];

/** Limit of invalid entries that a message shows. */
const shownEntries = 2;

/**
 * Returns the objects that the annotations `extra-configmaps` and `extra-secrets` name, as comma-separated `name` or
 * `namespace/name`. These objects are required, with all their keys. Returns one warning per annotation with invalid entries.
 */
export function extraReferences(
  source: WorkloadAnnotations,
  namespace: string,
): { readonly references: readonly Reference[]; readonly mistakes: readonly Warning[] } {
  const references: Reference[] = [];
  const mistakes: Warning[] = [];
  for (const { kind, annotation } of sources) {
    const { value, metadata } = workloadFirst(source, annotation);
    const origin = annotationOrigin(annotation, metadata);
    const invalid: string[] = [];
    for (const entry of splitList(value)) {
      const name = parseEntry(entry, namespace);
      if (name === undefined) invalid.push(entry);
      else references.push({ kind, ...name, reads: "files", keys: "all", optional: false, ...origin });
    }
    if (invalid.length > 0) mistakes.push(mistake(annotation, invalid));
  }
  return { references, mistakes };
}

function parseEntry(entry: string, own: string): { readonly namespace: string; readonly name: string } | undefined {
  const slash = entry.indexOf("/");
  const namespace = slash === -1 ? own : entry.slice(0, slash);
  const name = entry.slice(slash + 1);
  const valid = (slash === -1 || isDnsLabel(namespace)) && isDnsSubdomain(name);
  return valid ? { namespace, name } : undefined;
}

function mistake(annotation: string, entries: readonly string[]): Warning {
  const shown = formatList(entries, shownEntries, quoted);
  return {
    reason: "InvalidAnnotation",
    message:
      entries.length === 1
        ? invalidAnnotationTexts.invalidEntry(annotation, shown)
        : invalidAnnotationTexts.invalidEntries(formatCount(entries.length), annotation, shown),
  };
}
