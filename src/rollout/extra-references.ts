import { extraConfigMaps, extraSecrets } from "./annotations.ts";
import type { ConfigKind, Reference } from "./references.ts";
import type { Warning } from "./warning.ts";

const sources: readonly { readonly kind: ConfigKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: extraConfigMaps },
  { kind: "Secret", annotation: extraSecrets },
];

/**
 * The objects that the annotations `extra-configmaps` and `extra-secrets` name: comma-separated `name` or
 * `namespace/name`. They are required, with all their keys. An entry that is no such name becomes a mistake.
 */
export function extraReferences(
  annotations: Readonly<Record<string, string>>,
  namespace: string,
): { readonly references: readonly Reference[]; readonly mistakes: readonly Warning[] } {
  const references: Reference[] = [];
  const mistakes: Warning[] = [];
  for (const { kind, annotation } of sources) {
    for (const entry of entriesOf(annotations[annotation])) {
      const name = parseEntry(entry, namespace);
      if (name === undefined) mistakes.push(mistake(annotation, entry, kind));
      else {
        const path = `metadata.annotations[${annotation}]`;
        references.push({ kind, ...name, reads: "files", keys: "all", optional: false, path });
      }
    }
  }
  return { references, mistakes };
}

function entriesOf(annotation = ""): readonly string[] {
  return annotation
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
// Written so that each character can be taken in one way only: then no text is slow to refuse.
const subdomain = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/;

function parseEntry(entry: string, own: string): { readonly namespace: string; readonly name: string } | undefined {
  const slash = entry.indexOf("/");
  const namespace = slash === -1 ? own : entry.slice(0, slash);
  const name = entry.slice(slash + 1);
  const valid = (slash === -1 || label.test(namespace)) && name.length <= 253 && subdomain.test(name);
  return valid ? { namespace, name } : undefined;
}

function mistake(annotation: string, entry: string, kind: ConfigKind): Warning {
  const shown = entry.length <= 80 ? entry : `${entry.slice(0, 80)}…`;
  return {
    reason: "InvalidAnnotation",
    message: `annotation ${annotation}: ${JSON.stringify(shown)} is not the name of a ${kind}; write name or namespace/name, separated by commas`,
  };
}
