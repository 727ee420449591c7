import { annotationOrigin, type Reference, type StoredKind, wholeObject } from "../references/references.ts";
import { invalidAnnotationTexts, type Warning } from "../references/warning.ts";
import { isDnsSubdomain, splitList } from "../syntax/names.ts";
import { formatList, quoted } from "../syntax/wording.ts";
import {
  type CompatibilityRow,
  type CompatibilitySource,
  noExclusions,
  optIns,
  type WorkloadDirective,
} from "./directive.ts";

/** The prefix of all SAP pod-reloader annotations. */
const prefix = "pod-reloader.cs.sap.com/";

/**
 * Annotation of a pod template: the hash of the objects that the two lists name. On the metadata of a workload: the hash that a client
 * expects now, as a precondition of its request.
 */
export const sapConfigHash = `${prefix}config-hash`;

/** The annotations that name objects, in the order that the hash uses. */
export const sapLists: readonly { readonly kind: StoredKind; readonly annotation: string }[] = [
  { kind: "ConfigMap", annotation: `${prefix}configmaps` },
  { kind: "Secret", annotation: `${prefix}secrets` },
];

const ofNamedConfigMaps = {
  means:
    "Rolls the workload when one of these ConfigMaps in its namespace changes, even if the pod spec does not read it. Wave does not wait for a missing object.",
  unlike:
    "An edit that changes only labels or annotations of the object is not a change. Spaces around a name are removed.",
};

/** The SAP pod-reloader annotations that Wave reads. */
export const sapRows: readonly CompatibilityRow[] = [
  ...sapLists.map(({ kind, annotation }) => ({
    name: annotation,
    on: ["workload"] as const,
    values: "names, separated by commas",
    ...(kind === "ConfigMap" ? ofNamedConfigMaps : { means: `The same for ${kind}s.` }),
  })),
  {
    name: sapConfigHash,
    on: ["template"],
    values: "written by Wave",
    means:
      "The hash of what the Pods read. Used if only SAP annotations request rollouts, or if the annotation is already present.",
    unlike: "Wave computes the hash from the data, not from UID and resourceVersion.",
  },
  {
    name: sapConfigHash,
    on: ["workload"],
    values: "a hash",
    means:
      "With webhooks: the hash that the sender of a request expects. If the value is the current hash, the webhook removes the annotation. Otherwise the webhook denies the request.",
    unlike:
      "Wave compares the value with its own hash. Clients that compute SAP's hash send another value, so the webhook denies their requests after Wave has written its own hash.",
  },
];

/**
 * Returns what the annotations of SAP pod-reloader request: whole objects in the namespace of the workload, independent of its pod spec.
 * Wave does not wait for a missing object. As in SAP pod-reloader, a missing object is a state of its own.
 */
export function sapDirective({ namespace, annotations }: CompatibilitySource): WorkloadDirective {
  const named: Reference[] = [];
  const mistakes: Warning[] = [];
  for (const { kind, annotation } of sapLists) {
    const origin = annotationOrigin(annotation);
    const invalid: string[] = [];
    for (const name of splitList(annotations[annotation])) {
      if (!isDnsSubdomain(name)) invalid.push(name);
      else named.push(wholeObject(kind, namespace, name, origin));
    }
    if (invalid.length > 0) {
      const message = invalidAnnotationTexts.invalidNames(annotation, kind, formatList(invalid, 2, quoted));
      mistakes.push({ reason: "InvalidAnnotation", message });
    }
  }
  return {
    compatibility: "sap",
    optIn: sapLists.some(({ annotation }) => annotations[annotation]) ? optIns.compatibility : optIns.out,
    fromPodSpec: { ConfigMap: "none", Secret: "none", SecretProviderClass: "none" },
    named,
    patterns: [],
    excluded: noExclusions,
    minIntervalMs: undefined,
    mistakes,
  };
}
