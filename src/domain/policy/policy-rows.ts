import { annotationPrefix } from "../references/annotations.ts";
import { parseNames } from "../syntax/names.ts";
import { parseDuration, parseSignedTime, parseTime } from "../syntax/time.ts";
import { parseWindow } from "../syntax/window.ts";

// domain/policy: what flags, Namespaces and annotations decide about rollouts. Knows no plan, view or pacing decision.

/** Where an annotation may apply: "template" is the pod template of a workload, "config" a ConfigMap or Secret. */
export type AnnotationPlace = "workload" | "template" | "namespace" | "config";

/** Whether Wave rolls a workload, only reports, or waits for approval. */
export type RolloutMode = "roll" | "observe" | "approve";

/** An annotation that decides when Wave rolls a workload. */
interface PolicyRow<T> {
  readonly places: readonly AnnotationPlace[];
  /** The allowed values, as a noun phrase for people: `Use …`. */
  readonly allowed: string;
  /** Limit of the characters of a value. */
  readonly maxLength: number;
  /** Whether an invalid value holds the workload: its author wanted to restrict rollouts. */
  readonly holdsIfInvalid: boolean;
  /** Whether the role of the chart for people on call allows to change it. */
  readonly isByOperator?: true;
  /** Parses a value without surrounding spaces; returns undefined if it is invalid. */
  readonly parse: (text: string) => T | undefined;
}

const maxDurations = { settle: 86_400_000, interval: 7 * 86_400_000 };

const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string) =>
    values.find((value) => value === text);

const either = (yes: string, no: string) => (text: string) => (text === yes ? true : text === no ? false : undefined);

const durationUpTo = (most: number) => (text: string) => {
  const ms = parseDuration(text);
  return ms === undefined || ms > most ? undefined : ms;
};

const trueOrFalse = { allowed: '"true" or "false"', maxLength: 20, parse: either("true", "false") };

const onOrOff = { allowed: '"on" or "off"', maxLength: 20, parse: either("on", "off") };

const listOfNames = { allowed: "name or namespace/name, separated by commas", maxLength: 8_192, parse: parseNames };

const onAll: readonly AnnotationPlace[] = ["workload", "template", "namespace"];

const row = <T>(each: PolicyRow<T>): PolicyRow<T> => each;

/** The policy annotations, by name without prefix. docs/annotations.md describes their effect. */
export const policyRows = {
  hold: row({
    places: ["workload", "namespace", "config"],
    ...trueOrFalse,
    holdsIfInvalid: true,
    isByOperator: true,
  }),
  "hold-reason": row({
    places: ["workload", "namespace", "config"],
    allowed: "a text",
    maxLength: 200,
    holdsIfInvalid: false,
    isByOperator: true,
    parse: (text) => text,
  }),
  mode: row({
    places: onAll,
    allowed: '"roll", "observe" or "approve"',
    maxLength: 20,
    holdsIfInvalid: true,
    parse: oneOf("roll", "observe", "approve"),
  }),
  approved: row({
    places: ["workload"],
    allowed: "at least the first 8 digits of the hash, 0-9 and a-f",
    maxLength: 100,
    holdsIfInvalid: false,
    isByOperator: true,
    parse: (text) => (/^[0-9a-f]{8,64}$/i.test(text) ? text.toLowerCase() : undefined),
  }),
  window: row({
    places: onAll,
    allowed:
      'DAYS HH:MM-HH:MM and a time zone, such as "Mon-Fri 22:00-04:00 Europe/Berlin", or several separated by semicolons',
    maxLength: 1_000,
    holdsIfInvalid: true,
    parse: parseWindow,
  }),
  settle: row({
    places: onAll,
    allowed: 'a duration up to 24h, such as "30s"',
    maxLength: 40,
    holdsIfInvalid: true,
    parse: durationUpTo(maxDurations.settle),
  }),
  "min-interval": row({
    places: onAll,
    allowed: 'a duration up to 168h, such as "10m"',
    maxLength: 40,
    holdsIfInvalid: true,
    parse: durationUpTo(maxDurations.interval),
  }),
  batches: row({ places: onAll, ...onOrOff, holdsIfInvalid: true }),
  validator: row({ places: ["workload"], ...trueOrFalse, holdsIfInvalid: false }),
  "validator-required": row({ places: ["namespace"], ...trueOrFalse, holdsIfInvalid: true }),
  "scheduling-hold": row({ places: onAll, ...onOrOff, holdsIfInvalid: false }),
  priority: row({
    places: onAll,
    allowed: "a whole number, such as 10 or -10",
    maxLength: 20,
    holdsIfInvalid: true,
    parse: (text) => (/^[+-]?\d{1,9}$/.test(text) ? Number(text) : undefined),
  }),
  resumed: row({
    places: ["workload"],
    allowed: 'a time such as "2026-01-31T12:00:00Z"',
    maxLength: 40,
    holdsIfInvalid: false,
    isByOperator: true,
    parse: parseTime,
  }),
  "roll-requested": row({
    places: ["workload"],
    allowed: 'a time and a name, such as "2026-01-31T12:00:00Z alice"',
    maxLength: 200,
    holdsIfInvalid: false,
    isByOperator: true,
    parse: parseSignedTime,
  }),
  "first-sight": row({
    places: onAll,
    allowed: '"roll" or "record"',
    maxLength: 20,
    holdsIfInvalid: true,
    parse: oneOf("roll", "record"),
  }),
  "exclude-configmaps": row({ places: onAll, ...listOfNames, holdsIfInvalid: true }),
  "exclude-secrets": row({ places: onAll, ...listOfNames, holdsIfInvalid: true }),
  "pin-config": row({ places: onAll, ...trueOrFalse, holdsIfInvalid: false }),
  "on-failure": row({
    places: onAll,
    allowed: '"halt" or "return"',
    maxLength: 20,
    holdsIfInvalid: false,
    parse: oneOf("halt", "return"),
  }),
  "live-configmaps": row({
    places: onAll,
    allowed: "name, separated by commas",
    maxLength: 8_192,
    holdsIfInvalid: false,
    parse: parseNames,
  }),
} satisfies Readonly<Record<string, PolicyRow<unknown>>>;

/** The name of a policy annotation, without prefix. */
export type PolicyAnnotation = keyof typeof policyRows;

/** The names of all policy annotations, without prefix. */
export const policyAnnotations = Object.keys(policyRows) as readonly PolicyAnnotation[];

/** The type of the value of a policy annotation. */
export type PolicyValue<Name extends PolicyAnnotation> =
  (typeof policyRows)[Name] extends PolicyRow<infer T> ? T : never;

/** Returns the value of a policy annotation; undefined if the text is invalid. */
export function readPolicyValue<Name extends PolicyAnnotation>(
  name: Name,
  text: string,
): PolicyValue<Name> | undefined {
  const row = policyRows[name];
  return text.length > row.maxLength ? undefined : (row.parse(text.trim()) as PolicyValue<Name> | undefined);
}

/**
 * The policy annotations of a workload or Namespace: raw values by name without prefix. Has only the annotations that are present. Is
 * {@link noPolicy} for the many objects without any.
 */
export type PolicyAnnotations = Readonly<Partial<Record<PolicyAnnotation, string>>>;

/** The shared value for objects without policy annotations. */
export const noPolicy: PolicyAnnotations = {};

/**
 * Returns the policy annotations that apply to an object; {@link noPolicy} if there are none. Those of a workload come before those of its
 * pod template. Cuts a value that exceeds its maximum length, because such a value is invalid in any case.
 */
export function policyAnnotationsOf(
  annotations: Readonly<Record<string, string>> | null | undefined,
  on: "workload" | "namespace",
  template?: Readonly<Record<string, string>> | null,
): PolicyAnnotations {
  if (!annotations && !template) return noPolicy;
  let found: { [Name in PolicyAnnotation]?: string } | undefined;
  for (const { name, annotation, maxLength, isOnTemplate } of annotationsOn[on]) {
    const own = annotations?.[annotation];
    // An empty annotation is not set.
    const text = isOnTemplate && !own?.trim() ? (template?.[annotation] ?? own) : own;
    if (typeof text !== "string") continue;
    found ??= {};
    found[name] = text.slice(0, maxLength + 1);
  }
  return found ?? noPolicy;
}

/** The policy annotations that apply in each place. Thousands of workloads are parsed for them. */
const annotationsOn = { workload: inPlace("workload"), namespace: inPlace("namespace") };

function inPlace(place: "workload" | "namespace") {
  return policyAnnotations
    .filter((name) => policyRows[name].places.includes(place))
    .map((name) => {
      const { maxLength, places: each } = policyRows[name];
      return { name, annotation: annotationPrefix + name, maxLength, isOnTemplate: each.includes("template") };
    });
}
