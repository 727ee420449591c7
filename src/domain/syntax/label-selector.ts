import { isDnsSubdomain } from "./names.ts";

/** One requirement of a label selector. */
interface SelectorRequirement {
  readonly key: string;
  /** The values that match; undefined: each value does. */
  readonly values: readonly string[] | undefined;
  /** Whether it selects the labels that do not match, also those without the key. */
  readonly isNegated: boolean;
}

/** A list of requirements that labels must all meet. An empty list selects everything. */
export type LabelSelector = readonly SelectorRequirement[];

/**
 * Parses a selector in the syntax of Kubernetes
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors), or in the forms of Stakater
 * Reloader: `key:value`, `key:*` and `key=*`. Returns undefined if the text is invalid.
 */
export function readLabelSelector(text: string): LabelSelector | undefined {
  if (text.trim() === "") return [];
  // Commas between parentheses separate values.
  const clauses = text.split(/,(?![^()]*\))/);
  const requirements = clauses.map((clause) => readRequirement(clause.trim()));
  return requirements.every((each) => each !== undefined) ? requirements : undefined;
}

/** Reports whether labels meet all requirements of a selector. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>> | null | undefined): boolean {
  return selector.every(({ key, values, isNegated }) => {
    const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
    const matches = value !== undefined && (values === undefined || values.includes(value));
    return matches !== isNegated;
  });
}

const setForm = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equalForm = /^([^\s=!:]+)\s*(!=|==|=|:)\s*(\S*)$/;

function readRequirement(clause: string): SelectorRequirement | undefined {
  const [, listed, word, list = ""] = setForm.exec(clause) ?? [];
  if (listed !== undefined) {
    const values = list.split(",").map((each) => each.trim());
    return checked({ key: listed, values, isNegated: word === "notin" });
  }
  const [, key, sign, value = ""] = equalForm.exec(clause) ?? [];
  if (key !== undefined) {
    const isNegated = sign === "!=";
    return checked({ key, values: value === "*" && !isNegated ? undefined : [value], isNegated });
  }
  const isNegated = clause.startsWith("!");
  return checked({ key: isNegated ? clause.slice(1).trim() : clause, values: undefined, isNegated });
}

function checked(requirement: SelectorRequirement): SelectorRequirement | undefined {
  return isKey(requirement.key) && requirement.values?.every(isValue) !== false ? requirement : undefined;
}

const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Reports whether a text is a label key: a name, optionally after a DNS subdomain and a slash. */
function isKey(text: string): boolean {
  const [last = "", prefix, ...more] = text.split("/").reverse();
  return more.length === 0 && name.test(last) && (prefix === undefined || isDnsSubdomain(prefix));
}

function isValue(text: string): boolean {
  return text === "" || name.test(text);
}
