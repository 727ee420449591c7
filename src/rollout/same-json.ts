/** Whether two values that could come from JSON are equal; a property that is undefined counts as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameElements(a, b);
  return hasAll(a, b) && hasAll(b, a);
}

function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, index) => sameJson(element, b[index]));
}

function hasAll(a: object, b: object): boolean {
  const other = new Map(Object.entries(b));
  return Object.entries(a).every(([name, value]) => sameJson(value, other.get(name)));
}
