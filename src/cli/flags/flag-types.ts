// The flags of all commands: their types, the sets that several commands share, and their parser. This folder knows no command.
import { isDnsLabel, isDnsSubdomain } from "../../domain/syntax/names.ts";
import { formatDuration, parseDuration } from "../../domain/syntax/time.ts";
import { longestTimerMs } from "../../lib/clock.ts";
import { parseBindAddress } from "../../telemetry/bind-address.ts";

/** One row of a table of flags. `--help`, the parser and the environment variables are made from the table. */
export interface Flag<V> {
  /** The heading in `--help-all` and on docs/flags.md. */
  readonly group: string;
  readonly help: string;
  /** The short form of the name, one letter: `-n`. */
  readonly short?: string;
  /** The values that a shell offers: these words, or the names of namespaces or contexts; undefined: files, if the value is a file. */
  readonly completes?: readonly string[] | CompletedNames;
  /** Whether "true" or "false" may follow a boolean flag as a word of its own: in Reloader, the flag is a text. */
  readonly mayTakeWord?: boolean;
  /** Whether an empty value is the default, as in Reloader. */
  readonly emptyIsDefault?: boolean;
  /** Whether Wave only accepts the flag: help, completion and docs/flags.md have no row for it. */
  readonly hasNoEffect?: true;
  /** The separator with which several values add up; undefined: the last value wins. */
  readonly repeats?: "," | "\n";
  /** The value in `--help`: `NAME`, `{json|yaml}`, `NAME,...`; undefined for a boolean flag. */
  readonly placeholder: string | undefined;
  readonly default: V;
  /** Whether the value must not be printed. */
  readonly isSecret?: boolean;
  /** Whether the value is a comma-separated list. */
  readonly isList?: true;
  /** The default in words; undefined: `--help` shows none. */
  readonly shownDefault?: string | undefined;
  /** The allowed values, after "use". */
  readonly allowed: string;
  /** Returns the value of a text; undefined if the text is not allowed. */
  readonly parse: (text: string) => V | undefined;
}

/** The names that a shell reads from the cluster or the kubeconfig. */
export type CompletedNames = "namespaces" | "contexts";

interface FlagRow {
  readonly group: string;
  /** Starts with a capital noun phrase or verb, and makes sense alone. */
  readonly help: string;
  readonly short?: string;
  readonly completes?: CompletedNames;
}

/** Returns a boolean flag, parsed as by Go's strconv.ParseBool. */
export function bool(row: FlagRow & { readonly default: boolean }): Flag<boolean> {
  const truths = ["1", "t", "T", "true", "TRUE", "True"];
  const falsehoods = ["0", "f", "F", "false", "FALSE", "False"];
  return {
    ...row,
    placeholder: undefined,
    shownDefault: row.default ? "true" : undefined,
    allowed: "true or false",
    parse: (text) => (truths.includes(text) ? true : falsehoods.includes(text) ? false : undefined),
  };
}

/** Returns a flag with a text that is not empty and matches `form`. `shownDefault` describes what happens without the flag. */
export function text<D extends string | undefined = undefined>(
  row: FlagRow & {
    readonly placeholder: string;
    readonly default?: D;
    readonly shownDefault?: string;
    readonly allowed?: string;
    readonly form?: (value: string) => boolean;
  },
): Flag<string | D> {
  const {
    form = (value) => value !== "",
    allowed = "a text of at least one character",
    shownDefault = row.default,
    ...rest
  } = row;
  return {
    ...rest,
    default: row.default as D,
    shownDefault,
    allowed,
    parse: (value) => (form(value) ? value : undefined),
  };
}

/** Returns a flag with one of these words. `shownDefault` describes what happens without a default. */
export function choice<const C extends string, D extends C | undefined>(
  row: FlagRow & {
    readonly of: readonly C[];
    readonly default: D;
    readonly shownDefault?: string;
    readonly placeholder?: string;
  },
): Flag<C | D> {
  const { of, shownDefault = row.default, placeholder = `{${of.join("|")}}`, ...rest } = row;
  return {
    ...rest,
    placeholder,
    completes: of,
    shownDefault,
    allowed: `one of ${of.join(", ")}`,
    parse: (value) => of.find((word) => word === value),
  };
}

/** Returns a flag with some of these words, separated by commas. Undefined: the flag was not given. */
export function words<const W extends string>(
  row: FlagRow & { readonly of: readonly W[]; readonly shownDefault?: string; readonly placeholder?: string },
): Flag<readonly W[] | undefined> {
  const { of, shownDefault, placeholder = "WORD,...", ...rest } = row;
  return {
    ...rest,
    placeholder,
    completes: of,
    isList: true,
    default: undefined,
    shownDefault,
    allowed: `a comma-separated list of ${of.join(", ")}`,
    parse: (value) => {
      const found = value.split(",").map((each) => of.find((word) => word === each.trim()));
      return found.every((word) => word !== undefined) ? found : undefined;
    },
  };
}

/** The longest time of a timer, in whole hours. */
const longestMs = Math.floor(longestTimerMs / 3_600_000) * 3_600_000;

/** Returns a flag with a duration in Go's form, in milliseconds: at least `minMs`, or 0 if `zero` describes its effect. */
export function duration(row: FlagRow & { readonly default: number; minMs: number; zero?: string }): Flag<number> {
  const { minMs, zero, ...rest } = row;
  const off = zero === undefined ? "" : `, or 0 for ${zero}`;
  return {
    ...rest,
    placeholder: "DURATION",
    shownDefault: formatDuration(row.default),
    allowed: `a duration from ${formatDuration(minMs)} to ${formatDuration(longestMs)}, such as 1500ms, 5m or 1h30m${off}`,
    parse: (value) => {
      const ms = parseDuration(value);
      if (ms === 0 && zero !== undefined) return 0;
      return ms !== undefined && ms >= minMs && ms <= longestMs ? ms : undefined;
    },
  };
}

/** Returns a flag with a number per second above 0, or Infinity for `unlimited`. 0 is refused: some expect "none", some "unlimited". */
export function rate(row: FlagRow & { readonly default: number }): Flag<number> {
  return {
    ...row,
    placeholder: "NUMBER",
    shownDefault: String(row.default),
    allowed: `a number above 0, such as 10 or 0.5, or "unlimited"; to stop Wave, scale it to 0 replicas`,
    parse: (value) => {
      if (value === "unlimited") return Number.POSITIVE_INFINITY;
      return /^(\d{1,9}\.?\d*|\.\d+)$/.test(value) && Number(value) > 0 ? Number(value) : undefined;
    },
  };
}

/** Returns a flag with a whole number: at least 1, or 0 if `zero` describes its effect. */
export function wholeNumber(row: FlagRow & { readonly default: number; zero?: string }): Flag<number> {
  const { zero, ...rest } = row;
  const off = zero === undefined ? "" : `, or 0 for ${zero}`;
  return {
    ...rest,
    placeholder: "NUMBER",
    shownDefault: String(row.default),
    allowed: `a whole number from 1 to 999999999${off}`,
    parse: (value) => {
      if (value === "0" && zero !== undefined) return 0;
      return /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined;
    },
  };
}

/** Returns a flag with an address to listen on, in Go's form. With `orOff` the value `0` is also allowed, which means: do not listen. */
export function bindAddress(row: FlagRow & { readonly default: string; readonly orOff: boolean }): Flag<string> {
  const { orOff, ...rest } = row;
  return {
    ...rest,
    placeholder: "ADDRESS",
    shownDefault: row.default,
    allowed: `an address such as :8080, 127.0.0.1:8080 or [::1]:8080${orOff ? ", or 0 to turn it off" : ""}`,
    parse: (value) => ((orOff && value === "0") || parseBindAddress(value) !== undefined ? value : undefined),
  };
}

/** Returns a flag with names of namespaces, separated by commas, each once and sorted. Undefined: all namespaces. */
export function namespaces(row: FlagRow): Flag<readonly string[] | undefined> {
  return {
    ...row,
    placeholder: "NAME,...",
    completes: "namespaces",
    isList: true,
    default: undefined,
    shownDefault: "all",
    allowed: "a comma-separated list of namespace names, such as web,shop",
    parse: (value) => {
      const names = value.split(",").map((name) => name.trim());
      return names.every(isDnsLabel) ? [...new Set(names)].sort() : undefined;
    },
  };
}

/** Returns a flag with names of contexts of a kubeconfig, separated by commas, each once, in this order. Undefined: the flag was not given. */
export function contexts(row: FlagRow): Flag<readonly string[] | undefined> {
  return {
    ...row,
    placeholder: "NAME,...",
    completes: "contexts",
    isList: true,
    repeats: ",",
    default: undefined,
    allowed: "a comma-separated list of contexts of the kubeconfig, such as prod-eu,prod-us",
    parse: (value) => {
      const names = value.split(",").map((name) => name.trim());
      return names.every((name) => name !== "") ? [...new Set(names)] : undefined;
    },
  };
}

/** Returns a flag with the namespace and the name of an object: `NAMESPACE/NAME`. Undefined: the flag was not given. */
export function namespacedName(row: FlagRow): Flag<{ readonly namespace: string; readonly name: string } | undefined> {
  return {
    ...row,
    placeholder: "NAMESPACE/NAME",
    default: undefined,
    allowed: "a namespace and a name, such as wave-system/wave-hash-key",
    parse: (value) => {
      const [namespace = "", name = "", ...rest] = value.split("/");
      return rest.length === 0 && isDnsLabel(namespace) && isDnsSubdomain(name) ? { namespace, name } : undefined;
    },
  };
}

/** Returns a flag with an `https` URL of a host and an optional port, without a path, as in a webhook configuration. */
export function httpsOrigin(row: FlagRow): Flag<URL | undefined> {
  return {
    ...row,
    placeholder: "URL",
    default: undefined,
    allowed: "an https URL with a host and a port, such as https://127.0.0.1:9443",
    parse: (value) => {
      const url = URL.parse(value);
      return url?.protocol === "https:" && [url.origin, `${url.origin}/`].includes(value) ? url : undefined;
    },
  };
}

/** A mistake in the arguments of a command: one line for a person, no stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
