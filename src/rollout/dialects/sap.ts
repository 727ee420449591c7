import { isDnsSubdomain } from "../dns-name.ts";
import type { ConfigKind, Reference } from "../references.ts";
import type { Warning } from "../warning.ts";
import { enumerated, quoted } from "../wording.ts";
import type { Asked, DialectSource } from "./dialect.ts";

/** What every annotation of SAP's pod-reloader begins with. */
export const sapPrefix = "pod-reloader.cs.sap.com/";

/**
 * On a pod template: the hash of what the two lists name. On a workload's metadata: what a client takes that hash to be at
 * this moment, as a precondition of its request.
 */
export const sapConfigHash = `${sapPrefix}config-hash`;

const lists: readonly { readonly kind: ConfigKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: `${sapPrefix}configmaps` },
  { kind: "Secret", annotation: `${sapPrefix}secrets` },
];

/**
 * What the annotations of SAP's pod-reloader ask for: whole objects of the workload's own namespace, whatever its pod spec
 * says of them. One that does not exist is not waited for: as there, its absence is a state of its own.
 */
export function askedBySap({ namespace, annotations }: DialectSource): Asked {
  const named: Reference[] = [];
  const mistakes: Warning[] = [];
  for (const { kind, annotation } of lists) {
    const path = `metadata.annotations[${annotation}]`;
    const noNames: string[] = [];
    for (const name of entriesOf(annotations[annotation])) {
      if (!isDnsSubdomain(name)) noNames.push(name);
      else named.push({ kind, namespace, name, reads: "files", keys: "all", optional: true, path });
    }
    if (noNames.length > 0) {
      const message = `annotation ${annotation} names what no ${kind} can be called: ${enumerated(noNames, 2, quoted)}`;
      mistakes.push({ reason: "InvalidAnnotation", message });
    }
  }
  const asks = lists.some(({ annotation }) => annotations[annotation]);
  return {
    dialect: "sap",
    optIn: asks ? { state: "in", by: "workload" } : { state: "out" },
    fromPodSpec: { ConfigMap: "none", Secret: "none" },
    named,
    patterns: [],
    excluded: { ConfigMap: [], Secret: [] },
    minIntervalMs: undefined,
    mistakes,
  };
}

function entriesOf(list = ""): readonly string[] {
  const entries = list.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "");
}
