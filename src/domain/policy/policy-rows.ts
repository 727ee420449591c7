import { parseDuration } from "../syntax/duration.ts";
import { parseNames } from "../syntax/name-list.ts";
import { parseWindow } from "../syntax/window.ts";

/** Where an annotation may stand; "config" is a ConfigMap or Secret. */
export type Place = "workload" | "namespace" | "config";

/** Whether and how a workload is rolled. */
export type Mode = "roll" | "observe" | "approve";

/** An annotation by which people decide when something is rolled. */
interface Row<T> {
  readonly places: readonly Place[];
  /** What may be written, for a person: `it is not …`. */
  readonly allowed: string;
  /** What it does, for a person. */
  readonly means: string;
  /** How many characters it may have. */
  readonly most: number;
  /** Whether a value that cannot be read holds the workload: whoever wrote it did not want a roll at any time. */
  readonly holdsUnread: boolean;
  /** The value without space around it; undefined where it cannot be read. */
  readonly parse: (text: string) => T | undefined;
}

const longest = { settle: 86_400_000, interval: 7 * 86_400_000 };

const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string) =>
    values.find((value) => value === text);

const either = (yes: string, no: string) => (text: string) => (text === yes ? true : text === no ? false : undefined);

const durationUpTo = (most: number) => (text: string) => {
  const ms = parseDuration(text);
  return ms === undefined || ms > most ? undefined : ms;
};

const onBoth: readonly Place[] = ["workload", "namespace"];

const row = <T>(each: Row<T>): Row<T> => each;

/** The annotations, by their names without prefix. */
export const policyRows = {
  hold: row({
    places: ["workload", "namespace", "config"],
    allowed: '"true" or "false"',
    means:
      "nothing is rolled until it is removed, then once if still needed; on a ConfigMap or Secret: nobody is rolled for it",
    most: 20,
    holdsUnread: true,
    parse: either("true", "false"),
  }),
  mode: row({
    places: onBoth,
    allowed: '"roll", "observe" or "approve"',
    means:
      "`observe` only tells what it would do; `approve` holds each roll until it is approved; `roll` lifts what the Namespace says",
    most: 20,
    holdsUnread: true,
    parse: oneOf("roll", "observe", "approve"),
  }),
  approved: row({
    places: ["workload"],
    allowed: "the first 8 or more digits of the hash, 0-9 and a-f",
    means: "with `mode: approve`: this configuration may be rolled",
    most: 100,
    holdsUnread: false,
    parse: (text) => (/^[0-9a-f]{8,64}$/i.test(text) ? text.toLowerCase() : undefined),
  }),
  window: row({
    places: onBoth,
    allowed: 'DAYS HH:MM-HH:MM and a time zone, such as "Mon-Fri 22:00-04:00 Europe/Berlin"; several by semicolons',
    means: "it is rolled only then, by the clocks of that zone (else UTC)",
    most: 1_000,
    holdsUnread: true,
    parse: parseWindow,
  }),
  settle: row({
    places: onBoth,
    allowed: 'a duration up to 24h, such as "30s"',
    means: "it is rolled so long after the last change of what it reads, at most ten times as long after the first",
    most: 40,
    holdsUnread: true,
    parse: durationUpTo(longest.settle),
  }),
  "min-interval": row({
    places: onBoth,
    allowed: 'a duration up to 168h, such as "10m"',
    means: "so much time lies between two rolls at least",
    most: 40,
    holdsUnread: true,
    parse: durationUpTo(longest.interval),
  }),
  batches: row({
    places: onBoth,
    allowed: '"on" or "off"',
    means: "`off`: it neither waits for others that the same change concerns, nor they for it",
    most: 20,
    holdsUnread: true,
    parse: either("on", "off"),
  }),
  priority: row({
    places: onBoth,
    allowed: "a whole number, such as 10 or -10",
    means: "those with a higher one go first; 0 is the default",
    most: 20,
    holdsUnread: true,
    parse: (text) => (/^[+-]?\d{1,9}$/.test(text) ? Number(text) : undefined),
  }),
  resumed: row({
    places: ["workload"],
    allowed: 'a time such as "2026-01-31T12:00:00Z"',
    means: "what failed until then counts no more; written by `wave resume`",
    most: 40,
    holdsUnread: false,
    parse: (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? timeOf(text) : undefined,
  }),
  "first-sight": row({
    places: ["workload"],
    allowed: '"roll" or "record"',
    means:
      "when Wave sees it first and it runs already: `roll` replaces its Pods once, `baseline` takes what is there for what they see",
    most: 20,
    holdsUnread: true,
    parse: oneOf("roll", "record"),
  }),
  "exclude-configmaps": row({
    places: onBoth,
    allowed: "name or namespace/name, separated by commas",
    means: "these do not count for it",
    most: 8_192,
    holdsUnread: true,
    parse: parseNames,
  }),
  "exclude-secrets": row({
    places: onBoth,
    allowed: "name or namespace/name, separated by commas",
    means: "the same for Secrets",
    most: 8_192,
    holdsUnread: true,
    parse: parseNames,
  }),
} satisfies Readonly<Record<string, Row<unknown>>>;

/** The name of one of them. */
export type PolicyAnnotation = keyof typeof policyRows;

/** Each of them. */
export const policyAnnotations = Object.keys(policyRows) as readonly PolicyAnnotation[];

/** What the annotation of a name says. */
export type ValueOf<Name extends PolicyAnnotation> = (typeof policyRows)[Name] extends Row<infer T> ? T : never;

/** The value of an annotation; undefined where it cannot be read. */
export function readValue<Name extends PolicyAnnotation>(name: Name, text: string): ValueOf<Name> | undefined {
  const row = policyRows[name];
  return text.length > row.most ? undefined : (row.parse(text.trim()) as ValueOf<Name> | undefined);
}

function timeOf(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
