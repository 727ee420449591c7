import { isDnsLabel, isDnsSubdomain } from "../../domain/syntax/dns-name.ts";
import { formatDuration, parseDuration } from "../../domain/syntax/duration.ts";
import { longestTimerMs } from "../../lib/clock.ts";
import { parseBindAddress } from "../../telemetry/bind-address.ts";

/** One row of a command's table of flags. `--help`, the parser and the environment variables are made from it. */
export interface Flag<V> {
  /** The heading under which `--help` lists it. */
  readonly group: string;
  readonly help: string;
  /** One letter that may stand for the name: `-n`. */
  readonly short?: string;
  /** What a shell offers for the value: these words, or the namespaces that there are; undefined: files where it is one. */
  readonly completes?: readonly string[] | "namespaces";
  /** Given several times it means all of them, as with commas between; else the last one wins. */
  readonly repeats?: boolean;
  /** What `--help` shows for the value; undefined for a flag that is on by being named. */
  readonly placeholder: string | undefined;
  readonly default: V;
  /** The default as a person would write it; undefined where there is none to show. */
  readonly shownDefault: string | undefined;
  /** Completes "… is not". */
  readonly allowed: string;
  /** The value of a text, undefined where it is not allowed. */
  readonly parse: (text: string) => V | undefined;
}

interface Row {
  readonly group: string;
  readonly help: string;
  readonly short?: string;
  readonly completes?: "namespaces";
}

/** On or off, as Go's strconv.ParseBool reads it. */
export function bool(row: Row & { readonly default: boolean }): Flag<boolean> {
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

/** A text that is not empty, of a form where one is given. `shownDefault` tells what happens without it. */
export function text<D extends string | undefined = undefined>(
  row: Row & {
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

/** One word of a few. Without a default `shownDefault` tells what happens. */
export function choice<const C extends string, D extends C | undefined>(
  row: Row & { readonly of: readonly C[]; readonly default: D; readonly shownDefault?: string },
): Flag<C | D> {
  const { of, shownDefault = row.default, ...rest } = row;
  return {
    ...rest,
    placeholder: of.join("|"),
    completes: of,
    shownDefault,
    allowed: `one of ${of.join(", ")}`,
    parse: (value) => of.find((word) => word === value),
  };
}

/** Some words of a few, separated by commas. Undefined: none was asked for. */
export function words<const W extends string>(
  row: Row & { readonly of: readonly W[]; readonly shownDefault?: string },
): Flag<readonly W[] | undefined> {
  const { of, shownDefault, ...rest } = row;
  return {
    ...rest,
    placeholder: "WORD,…",
    completes: of,
    default: undefined,
    shownDefault,
    allowed: `a comma-separated list of ${of.join(", ")}`,
    parse: (value) => {
      const found = value.split(",").map((each) => of.find((word) => word === each.trim()));
      return found.every((word) => word !== undefined) ? found : undefined;
    },
  };
}

/** The whole hours that a timer can count. */
const longestMs = Math.floor(longestTimerMs / 3_600_000) * 3_600_000;

/** A duration in Go's form, in milliseconds. At least `minMs`, or 0 where `zero` tells what that means. */
export function duration(row: Row & { readonly default: number; minMs: number; zero?: string }): Flag<number> {
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

/**
 * How many a second: a decimal number above 0, or `unlimited`, which is Infinity. 0 is refused: some mean by it what
 * others mean by `unlimited`.
 */
export function rate(row: Row & { readonly default: number }): Flag<number> {
  return {
    ...row,
    placeholder: "NUMBER",
    shownDefault: String(row.default),
    allowed: `a number above 0, such as 10 or 0.5; write "unlimited" for no limit; to stop Wave, scale it to 0 replicas`,
    parse: (value) => {
      if (value === "unlimited") return Number.POSITIVE_INFINITY;
      return /^(\d{1,9}\.?\d*|\.\d+)$/.test(value) && Number(value) > 0 ? Number(value) : undefined;
    },
  };
}

/** A whole number of at least 1, or 0 where `zero` tells what that means. */
export function count(row: Row & { readonly default: number; zero?: string }): Flag<number> {
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

/** Where to listen, in Go's form; with `orOff`, `0` means nowhere and is given as undefined's stand-in "0". */
export function bindAddress(row: Row & { readonly default: string; readonly orOff: boolean }): Flag<string> {
  const { orOff, ...rest } = row;
  return {
    ...rest,
    placeholder: "ADDRESS",
    shownDefault: row.default,
    allowed: `an address such as :8080, 127.0.0.1:8080 or [::1]:8080${orOff ? ", or 0 to turn it off" : ""}`,
    parse: (value) => ((orOff && value === "0") || parseBindAddress(value) !== undefined ? value : undefined),
  };
}

/** Names of namespaces, separated by commas, each once. Undefined: all. */
export function namespaces(row: Row): Flag<readonly string[] | undefined> {
  return {
    ...row,
    placeholder: "NAME,…",
    completes: "namespaces",
    default: undefined,
    shownDefault: "all",
    allowed: "a comma-separated list of names of namespaces, such as web,shop",
    parse: (value) => {
      const names = value.split(",").map((name) => name.trim());
      return names.every(isDnsLabel) ? [...new Set(names)].sort() : undefined;
    },
  };
}

/** An object by its namespace and name, with a slash between them. */
export function namespacedName(row: Row): Flag<{ readonly namespace: string; readonly name: string } | undefined> {
  return {
    ...row,
    placeholder: "NAMESPACE/NAME",
    default: undefined,
    shownDefault: undefined,
    allowed: "a namespace and a name, such as wave-system/wave-hash-key",
    parse: (value) => {
      const [namespace = "", name = "", ...rest] = value.split("/");
      return rest.length === 0 && isDnsLabel(namespace) && isDnsSubdomain(name) ? { namespace, name } : undefined;
    },
  };
}

/** An `https` URL of a host and perhaps a port: what a webhook configuration may hold, without a path. */
export function httpsOrigin(row: Row): Flag<URL | undefined> {
  return {
    ...row,
    placeholder: "URL",
    default: undefined,
    shownDefault: undefined,
    allowed: "an https URL of a host and a port, such as https://127.0.0.1:9443",
    parse: (value) => {
      const url = URL.parse(value);
      return url?.protocol === "https:" && [url.origin, `${url.origin}/`].includes(value) ? url : undefined;
    },
  };
}
