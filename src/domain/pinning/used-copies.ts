import { pinnedAnnotation } from "../references/annotations.ts";
import { valueAtPointer } from "../syntax/json-patch.ts";
import { type Pins, parsePins } from "./pins.ts";

/** The fields of a pod spec that name a ConfigMap, in volumes, projected volumes and containers of all kinds. */
const references = new Set(["configMap", "configMapRef", "configMapKeyRef"]);

/** The characters that cannot be in the name of an object. */
const separators = /[^a-z0-9.-]+/;

/**
 * Returns the names of the ConfigMaps that a pod spec references. Reads it without its schema: templates of custom resources may be
 * malformed, and later versions of Kubernetes may have more places. A name too many only keeps a copy.
 */
export function referencedNames(podSpec: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [field, inside] of Object.entries(value)) {
      if (references.has(field) && typeof inside?.name === "string") names.add(inside.name);
      visit(inside);
    }
  };
  visit(podSpec);
  return names;
}

/**
 * Returns the names of the ConfigMaps that Pods of a template would read: those of its pins and of its pod spec. The pins are read word by
 * word, so that a later version of Wave may write them in another form.
 */
export function namesInTemplate(template: unknown): ReadonlySet<string> {
  const text = pinsText(template);
  return new Set([...(text?.split(separators) ?? []), ...referencedNames(valueAtPointer(template, "/spec"))]);
}

/** Returns the pins of a pod template; undefined without a well-formed annotation. */
export function pinsOfTemplate(template: unknown): Pins | undefined {
  const text = pinsText(template);
  return text === undefined ? undefined : parsePins(text);
}

function pinsText(template: unknown): string | undefined {
  const annotations = valueAtPointer(template, "/metadata/annotations") as
    | Readonly<Record<string, unknown>>
    | undefined;
  const text = annotations?.[pinnedAnnotation];
  return typeof text === "string" ? text : undefined;
}
