import { type Json, type JsonObject, valueAt } from "./json.ts";
import type { ApiObject } from "./object.ts";
import type { SandboxResource } from "./resources.ts";
import { badRequest } from "./status-error.ts";

/** Whether an object belongs to a list or watch. */
export type Selector = (object: ApiObject) => boolean;

type Labels = { readonly [label: string]: Json | undefined };
type Requirement = (labels: Labels) => boolean;

/**
 * Reads a label selector: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 * Throws 400 if it cannot be read.
 */
export function parseLabelSelector(text: string): Selector {
  const requirements = splitOutsideParentheses(text).map(parseRequirement);
  return ({ metadata }) => requirements.every((requirement) => requirement(metadata.labels ?? {}));
}

function splitOutsideParentheses(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function parseRequirement(text: string): Requirement {
  const sets = /^([\w./-]+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(text);
  if (sets !== null) {
    const [, label = "", operator, list = ""] = sets;
    const values = list.split(",").map((value) => value.trim());
    return (labels) => values.includes(String(labels[label])) === (operator === "in");
  }
  const compares = /^([\w./-]+)\s*(!=|==|=)\s*([\w.-]*)$/.exec(text);
  if (compares !== null) {
    const [, label = "", operator, value] = compares;
    return (labels) => (labels[label] === value) === (operator !== "!=");
  }
  const exists = /^(!?)\s*([\w./-]+)$/.exec(text);
  if (exists === null) throw badRequest(`unable to parse requirement: "${text}"`);
  const [, not, label = ""] = exists;
  return (labels) => (labels[label] !== undefined) === (not === "");
}

/**
 * Reads a field selector: `metadata.name=a`, `type!=b`, joined by commas.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
 * Throws 400 if it cannot be read or names a field that the kind does not offer.
 */
export function parseFieldSelector(resource: SandboxResource, text: string): Selector {
  const terms = text.split(",").filter((part) => part !== "");
  const requirements = terms.map((term): Selector => {
    const parts = /^([^=!]+)(!=|==|=)(.*)$/.exec(term);
    if (parts === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    const [, field = "", operator, value] = parts;
    checkField(resource, field);
    return (object) => (fieldOf(object, field) === value) === (operator !== "!=");
  });
  return (object) => requirements.every((requirement) => requirement(object));
}

function checkField(resource: SandboxResource, field: string): void {
  if (field === "metadata.name" || field === "metadata.namespace" || resource.selectableFields.includes(field)) return;
  if (resource.selectableFields.length > 0) throw badRequest(`field label not supported: ${field}`);
  throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

/** Returns the field as a selector compares it: always text, "" if it is absent. */
function fieldOf(object: ApiObject, field: string): string {
  // The one selectable field that is not a path: an Event's source is an object.
  const path = object.kind === "Event" && field === "source" ? ["source", "component"] : field.split(".");
  const value = valueAt(object, ...path);
  return value === undefined || value === null ? "" : String(value);
}

/**
 * Reports whether labels match a selector with matchLabels and matchExpressions, such as a workload's `spec.selector`. An empty
 * selector matches all labels.
 */
export function matchesLabelSelector(selector: JsonObject, labels: Labels): boolean {
  const equal = Object.entries((selector.matchLabels ?? {}) as JsonObject);
  if (!equal.every(([label, value]) => labels[label] === value)) return false;
  const expressions = (selector.matchExpressions ?? []) as readonly JsonObject[];
  return expressions.every((expression) => matchesExpression(expression, labels));
}

function matchesExpression({ key, operator, values }: JsonObject, labels: Labels): boolean {
  const value = labels[String(key)];
  const among = value !== undefined && ((values ?? []) as readonly Json[]).includes(value);
  switch (operator) {
    case "In":
      return among;
    case "NotIn":
      return !among;
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

/** Formats a workload's `spec.selector` as the text that `parseLabelSelector` reads, for example `a=b,c in (d,e)`. */
export function formatLabelSelector(selector: JsonObject): string {
  const equal = Object.entries((selector.matchLabels ?? {}) as JsonObject).map(([label, value]) => `${label}=${value}`);
  const expressions = ((selector.matchExpressions ?? []) as readonly JsonObject[]).map(({ key, operator, values }) => {
    const list = `(${((values ?? []) as readonly Json[]).join(",")})`;
    if (operator === "In") return `${key} in ${list}`;
    if (operator === "NotIn") return `${key} notin ${list}`;
    return operator === "Exists" ? `${key}` : `!${key}`;
  });
  return [...equal.sort(), ...expressions].join(",");
}
