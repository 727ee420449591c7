/**
 * Whether two values that could come from JSON are equal; a property that is undefined counts as absent. Looks at each
 * part once, however deep it lies.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameElements(a, b);
  return sameProperties(a, b);
}

function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, index) => sameJson(element, b[index]));
}

function sameProperties(a: object, b: object): boolean {
  const others = new Map(Object.entries(b).filter(([, value]) => value !== undefined));
  const own = Object.entries(a).filter(([, value]) => value !== undefined);
  return (
    own.length === others.size && own.every(([name, value]) => others.has(name) && sameJson(value, others.get(name)))
  );
}
