import { isDnsSubdomain } from "./names.ts";

/** One requirement of a label selector. A missing label matches "notIn". */
interface SelectorRequirement {
  readonly key: string;
  readonly operator: "in" | "notIn" | "exists" | "absent";
  readonly values: readonly string[];
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
  const labelValue = (key: string) => (labels && Object.hasOwn(labels, key) ? labels[key] : undefined);
  return selector.every((requirement) => meets(requirement, labelValue(requirement.key)));
}

function meets({ operator, values }: SelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "in":
      return value !== undefined && values.includes(value);
    case "notIn":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
  }
}

const setForm = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equalForm = /^([^\s=!:]+)\s*(!=|==|=|:)\s*(\S*)$/;

function readRequirement(clause: string): SelectorRequirement | undefined {
  const set = setForm.exec(clause);
  if (set !== null) {
    const [, key = "", word, list = ""] = set;
    return checked({
      key,
      operator: word === "in" ? "in" : "notIn",
      values: list.split(",").map((each) => each.trim()),
    });
  }
  const equal = equalForm.exec(clause);
  if (equal !== null) {
    const [, key = "", sign, value = ""] = equal;
    if (value === "*" && sign !== "!=") return checked({ key, operator: "exists", values: [] });
    return checked({ key, operator: sign === "!=" ? "notIn" : "in", values: [value] });
  }
  if (clause.startsWith("!")) return checked({ key: clause.slice(1).trim(), operator: "absent", values: [] });
  return checked({ key: clause, operator: "exists", values: [] });
}

function checked(requirement: SelectorRequirement): SelectorRequirement | undefined {
  return isKey(requirement.key) && requirement.values.every(isValue) ? requirement : undefined;
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
