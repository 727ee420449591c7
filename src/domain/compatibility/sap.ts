import type { Reference, StoredKind } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { enumerated, quoted } from "../syntax/wording.ts";
import {
  type Asked,
  type CompatibilityRow,
  type CompatibilitySource,
  entriesOf,
  excludesNothing,
  optIns,
  wholeObject,
} from "./directive.ts";

/** What every annotation of SAP's pod-reloader begins with. */
const prefix = "pod-reloader.cs.sap.com/";

/**
 * On a pod template: the hash of what the two lists name. On a workload's metadata: what a client takes that hash to be at
 * this moment, as a precondition of its request.
 */
export const sapConfigHash = `${prefix}config-hash`;

/** Its annotations that name objects, in the order in which its hash has them. */
export const sapLists: readonly { readonly kind: StoredKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: `${prefix}configmaps` },
  { kind: "Secret", annotation: `${prefix}secrets` },
];

/** The annotations of SAP's pod-reloader. */
export const sapRows: readonly CompatibilityRow[] = [
  ...sapLists.map(({ kind, annotation }) => ({
    name: annotation,
    on: ["workload"] as const,
    values: "names, separated by commas",
    means: `it is rolled when one of these ${kind}s of its namespace changes, whatever its pod spec reads; one that does not exist is not waited for`,
    unlike:
      "an edit of labels or annotations of the object alone is no change, since no Pod sees it; space around a name is taken off",
  })),
  {
    name: sapConfigHash,
    on: ["template"],
    values: "written by Wave",
    means: "the hash of what its Pods see, where only SAP's annotations ask for rolls, or where it is already",
    unlike: "the hash is Wave's, over data, and not over UID and resourceVersion",
  },
  {
    name: sapConfigHash,
    on: ["workload"],
    values: "a hash",
    means:
      "with the webhooks on, a precondition of a request: it is the hash of this moment, and is taken off, or the request is denied",
    unlike: "it is compared with Wave's hash, which clients that compute SAP's own do not have",
  },
];

/**
 * What the annotations of SAP's pod-reloader ask for: whole objects of the workload's own namespace, whatever its pod spec
 * says of them. One that does not exist is not waited for: as there, its absence is a state of its own.
 */
export function askedBySap({ namespace, annotations }: CompatibilitySource): Asked {
  const named: Reference[] = [];
  const mistakes: Warning[] = [];
  for (const { kind, annotation } of sapLists) {
    const path = `metadata.annotations[${annotation}]`;
    const noNames: string[] = [];
    for (const name of entriesOf(annotations[annotation])) {
      if (!isDnsSubdomain(name)) noNames.push(name);
      else named.push(wholeObject(kind, namespace, name, path));
    }
    if (noNames.length > 0) {
      const message = `annotation ${annotation} names what no ${kind} can be called: ${enumerated(noNames, 2, quoted)}`;
      mistakes.push({ reason: "InvalidAnnotation", message });
    }
  }
  return {
    compatibility: "sap",
    optIn: sapLists.some(({ annotation }) => annotations[annotation]) ? optIns.in : optIns.out,
    fromPodSpec: { ConfigMap: "none", Secret: "none", SecretProviderClass: "none" },
    named,
    patterns: [],
    excluded: excludesNothing,
    minIntervalMs: undefined,
    mistakes,
  };
}
