import { isList, isMap, type Json, type JsonMap } from "./json.ts";

/** Fields whose value false or 0 the API server omits (`omitempty` without a pointer). */
const falseIsAbsent = new Set(["hostNetwork", "hostPID", "hostIPC", "readOnly", "stdin", "stdinOnce", "tty", "paused"]);
const zeroIsAbsent = new Set(["initialDelaySeconds", "hostPort"]);

/** Reports whether the API server omits a value if the field is absent (`omitempty`). */
export function isOmittedWhenStored(name: string, value: Json): boolean {
  if (value === false) return falseIsAbsent.has(name);
  if (value === 0) return zeroIsAbsent.has(name);
  if (isList(value)) return value.length === 0;
  if (isMap(value)) return Object.keys(value).length === 0;
  return value === "" || value === null || value === undefined;
}

/** Fields with defaults inside lists that are replaced as a whole. */
const filledIn = new Set(["expirationSeconds", "apiVersion", "divisor", "defaultMode", "protocol"]);

/**
 * Reports whether a value equals the stored value, apart from how the API server writes it: quantities in their shortest form, and
 * defaults.
 */
export function isEqualWhenStored(value: Json, stored: Json): boolean {
  if (isList(value))
    return (
      isList(stored) &&
      value.length === stored.length &&
      value.every((item, index) => isEqualWhenStored(item, stored[index]))
    );
  if (isMap(value)) return isMap(stored) && isMapStoredAs(value, stored);
  return value === stored || isSameQuantity(value, stored);
}

function isMapStoredAs(value: JsonMap, stored: JsonMap): boolean {
  const asGiven = Object.entries(value).every(([name, each]) =>
    stored[name] === undefined ? isOmittedWhenStored(name, each) : isEqualWhenStored(each, stored[name]),
  );
  return asGiven && Object.keys(stored).every((name) => value[name] !== undefined || filledIn.has(name));
}

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/: "1000m" equals "1". */
function isSameQuantity(a: Json, b: Json): boolean {
  const [first, second] = [amountOf(a), amountOf(b)];
  if (first === undefined || second === undefined) return false;
  return Math.abs(first - second) <= Math.abs(first) * 1e-12;
}

function amountOf(value: Json): number | undefined {
  if (typeof value === "number") return value;
  const match =
    typeof value === "string"
      ? /^([+-]?\d{1,30}(?:\.\d{0,30})?(?:e[+-]?\d{1,3})?)([numkKMGTPE]i?)?$/i.exec(value)
      : null;
  if (match === null) return undefined;
  const factor = factors[match[2] ?? ""];
  return factor === undefined ? undefined : Number(match[1]) * factor;
}
