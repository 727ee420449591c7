/**
 * Reports whether two JSON values are equal. A property with value undefined equals a missing property. Compares each part
 * once.
 */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameElements(a, b);
  return sameProperties(a, b);
}

function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, index) => equalJson(element, b[index]));
}

function sameProperties(a: object, b: object): boolean {
  return (
    Object.keys(a).every((name) => equalJson(property(a, name), property(b, name))) &&
    Object.keys(b).every((name) => Object.hasOwn(a, name) || property(b, name) === undefined)
  );
}

function property(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
