import type { Compatibility, CompatibilityRow } from "../compatibility/directive.ts";
import { sapRows } from "../compatibility/sap.ts";
import { stakaterRows } from "../compatibility/stakater.ts";
import { annotationPrefix, labelsOfCreated, rotateHashKey, writtenOnCopies } from "../references/annotations.ts";
import { misusedAnnotationTexts as texts } from "../references/warning-texts.ts";
import type { Annotations } from "../references/wave-annotations.ts";
import { closestName } from "../syntax/closest-name.ts";
import { isDnsLabel } from "../syntax/dns-name.ts";
import { splitList } from "../syntax/name-list.ts";
import { type PolicyAnnotation, policyRows, readPolicyValue } from "./policy-rows.ts";
import { userAnnotations } from "./user-annotations.ts";

/** An object that is not a workload, on which people write annotations. */
export interface AnnotatedObject {
  readonly on: "namespace" | "config";
  readonly kind: string;
  /** The other controllers whose annotations Wave reads. */
  readonly understood: readonly Compatibility[];
}

/**
 * Returns a message about an annotation of a Namespace, ConfigMap or Secret that has no effect there or has an invalid value; undefined if it
 * has an effect, or belongs to another tool. Plans report such annotations of workloads.
 */
export function misuseOf(object: AnnotatedObject, name: string, value: string): string | undefined {
  return name.startsWith(annotationPrefix) ? misuseOfOwn(object, name, value) : misuseOfPeer(object, name, value);
}

function misuseOfOwn({ on, kind }: AnnotatedObject, name: string, value: string): string | undefined {
  if (name === rotateHashKey || writtenOnCopies.includes(name)) return undefined;
  const short = name.slice(annotationPrefix.length);
  const row = Object.hasOwn(userAnnotations, short) ? userAnnotations[short] : undefined;
  if (row === undefined) {
    const meant = closestName(short, namesOn[on]);
    return texts.unknown(name, meant && annotationPrefix + meant);
  }
  if (!row.places.includes(on)) return texts.noEffect(name, kind, row.places.includes("workload"));
  return isReadable(short, value) ? undefined : texts.invalid(name, value, row.allowed);
}

function misuseOfPeer({ on, kind, understood }: AnnotatedObject, name: string, value: string): string | undefined {
  const rows = understood.flatMap((compatibility) => peerRows[compatibility]).filter((row) => row.name === name);
  const [row] = rows;
  if (row === undefined) return undefined;
  const here = on === "config" ? rows.find(({ on: places }) => places.includes("config")) : undefined;
  if (here === undefined) return texts.noEffect(name, kind, row.on.includes("workload"));
  return (here.accepts?.(value) ?? true) ? undefined : texts.invalid(name, value, here.values);
}

const peerRows: Readonly<Record<Compatibility, readonly CompatibilityRow[]>> = {
  wave: [],
  sap: sapRows,
  stakater: stakaterRows,
};

function isReadable(name: string, value: string): boolean {
  if (value.trim() === "") return true;
  if (name === "shared-with") return splitList(value).every((each) => each === "*" || isDnsLabel(each));
  if (Object.hasOwn(policyRows, name)) return readPolicyValue(name as PolicyAnnotation, value) !== undefined;
  return value === "true" || value === "false";
}

const namesOn = { namespace: namesIn("namespace"), config: namesIn("config") };

function namesIn(on: "namespace" | "config"): readonly string[] {
  return Object.keys(userAnnotations).filter((name) => userAnnotations[name]?.places.includes(on));
}

/** How many annotations and labels of one object a message names: a tenant may write thousands. */
const mostNamed = 2;

/** Returns one message about annotations and labels of a ConfigMap or Secret that have no effect there; undefined if there are none. */
export function misusesOf(
  object: AnnotatedObject,
  { annotations, labels }: { readonly annotations?: Annotations | null; readonly labels?: Annotations | null },
): string | undefined {
  let found: string[] | undefined;
  for (const name in annotations) {
    const message = misuseOf(object, name, `${annotations[name]}`);
    if (message !== undefined) found = [...(found ?? []), message];
    if (found?.length === mostNamed) break;
  }
  for (const name in labels) {
    if (found?.length === mostNamed) break;
    if (name.startsWith(annotationPrefix) && !labelsOfCreated.includes(name))
      found = [...(found ?? []), texts.label(name, object.kind)];
  }
  return found?.join(" ");
}
