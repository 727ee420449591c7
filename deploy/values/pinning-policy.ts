import { neverPinned } from "../../src/domain/pinning/pin-request.ts";
import { maxPinnedLength, pinPattern } from "../../src/domain/pinning/pinned-lookup.ts";
import { mirrorAnnotation } from "../../src/domain/pinning/pod-pins.ts";
import { pinnedAnnotation } from "../../src/domain/references/annotations.ts";
import { maxNameLength } from "../../src/domain/syntax/names.ts";

/** A CEL expression with a name, as match conditions and variables have it. */
interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

const hasAnnotation = (name: string) => `${quoted(name)} in object.metadata.annotations`;

/** The policy concerns new Pods with pins only, so that it costs nothing for others. */
const matchConditions: readonly NamedExpression[] = [
  { name: "is-pinned", expression: `has(object.metadata.annotations) && ${hasAnnotation(pinnedAnnotation)}` },
  { name: "not-a-mirror", expression: `!(${hasAnnotation(mirrorAnnotation)})` },
];

const text = `object.metadata.annotations[${quoted(pinnedAnnotation)}]`;

/**
 * The pins, read like `parsePins` does (src/domain/pinning/pinned-lookup.ts). Malformed pins are an empty map, or an error if a source is there
 * twice. With failurePolicy Ignore, both leave the Pod as it is.
 */
const variables: readonly NamedExpression[] = [
  {
    name: "pairs",
    expression: [
      `${text}.size() <= ${maxPinnedLength} && ${text}.matches('^${pinPattern}(?:,${pinPattern})*$')`,
      `? ${text}.split(',').map(pin, pin.split('=')) : []`,
    ].join("\n"),
  },
  { name: "all", expression: "variables.pairs.transformMapEntry(i, pair, {pair[0]: pair[1]})" },
  {
    name: "areWellFormed",
    expression: [
      `variables.pairs.all(pair, pair[0].size() <= ${maxNameLength} && pair[1].size() <= ${maxNameLength}`,
      "&& pair[0].startsWith(pair[1].substring(0, pair[1].lastIndexOf('-'))) && !(pair[1] in variables.all))",
    ].join("\n"),
  },
  {
    name: "pins",
    expression: `variables.areWellFormed ? variables.all.transformMap(source, copy, !(source in [${neverPinned.map(quoted).join(", ")}]), copy) : {}`,
  },
];

/** Returns an expression that is true if a reference to a ConfigMap is to have another name. */
function isPointed(reference: string): string {
  return `${reference}.?name.orValue('') in variables.pins`;
}

function rename(reference: string, path: string): string {
  return `JSONPatch{op: 'replace', path: ${path}/name', value: variables.pins[${reference}.name]}`;
}

const volumes = "(has(object.spec.volumes) ? object.spec.volumes : [])";

const volumeOperations = `${volumes}.transformList(i, volume, has(volume.configMap) && ${isPointed("volume.configMap")},
  ${rename("volume.configMap", "'/spec/volumes/' + string(i) + '/configMap")})`;

// The API server writes empty sources as null.
const projectedOperations = `${volumes}.transformList(i, volume,
  has(volume.projected) && has(volume.projected.sources) && dyn(volume.projected.sources) != null,
  volume.projected.sources.transformList(j, source, has(source.configMap) && ${isPointed("source.configMap")},
    ${rename("source.configMap", "'/spec/volumes/' + string(i) + '/projected/sources/' + string(j) + '/configMap")})).flatten()`;

/** Returns the operations for one list of the environment of all containers. */
function environmentOperations(
  containers: "containers" | "initContainers",
  list: "env" | "envFrom",
  field: string,
): string {
  const parts = field.split(".").map((_, index, all) => `has(entry.${all.slice(0, index + 1).join(".")})`);
  const reference = `entry.${field}`;
  const path = `'/spec/${containers}/' + string(i) + '/${list}/' + string(j) + '/${field.replaceAll(".", "/")}`;
  return `(has(object.spec.${containers}) ? object.spec.${containers} : []).transformList(i, container, has(container.${list}),
  container.${list}.transformList(j, entry, ${[...parts, isPointed(reference)].join(" && ")},
    ${rename(reference, path)})).flatten()`;
}

/** One patch for all references: the API server applies one mutation completely or not at all. */
const patch = [
  volumeOperations,
  projectedOperations,
  ...(["containers", "initContainers"] as const).flatMap((containers) => [
    environmentOperations(containers, "env", "valueFrom.configMapKeyRef"),
    environmentOperations(containers, "envFrom", "configMapRef"),
  ]),
].join("\n+ ");

/**
 * Returns templates/_pointing.tpl: the part of a MutatingAdmissionPolicy that does what `pointPod` does
 * (src/domain/pinning/pod-pins.ts).
 */
export function pinningPolicy(head: string): string {
  return [
    `{{- /* ${head} */}}`,
    '{{- define "wave.pointing" -}}',
    "matchConditions:",
    ...matchConditions.flatMap(named),
    "variables:",
    ...variables.flatMap(named),
    "mutations:",
    "  # A single patch, so that a Pod gets either all changes or no change.",
    "  - patchType: JSONPatch",
    "    jsonPatch:",
    "      expression: >-",
    ...indented(patch, 8),
    "{{- end }}",
    "",
  ].join("\n");
}

function named({ name, expression }: NamedExpression): readonly string[] {
  return [`  - name: ${name}`, "    expression: >-", ...indented(expression, 6)];
}

/** Returns lines with one indent. In folded YAML, a line with a deeper one would keep its line break. */
function indented(lines: string, spaces: number): readonly string[] {
  return lines.split("\n").map((line) => " ".repeat(spaces) + line.trim());
}

function quoted(name: string): string {
  return `'${name}'`;
}
